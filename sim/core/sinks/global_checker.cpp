// Races and uninitialized loads in global memory, inside a block, between blocks, and with other launches and
// copies. In: the requests of a warp. Out: suspicious pairs of accesses for hazards.cpp, and findings.
//
// Each word has the accesses that still matter. A record takes two to eighteen times the memory of the word, so
// memory is recorded in chunks of 4 kB that stay one cell as long as all of their words
// are alike, as after a copy. A chunk gets a cell for each word, or for each byte, when it is first accessed in
// part. All records together have a limit. A record that would pass it gives up, and says so.
//
// An earlier launch is ordered before this one unless it is among those that may run at the same time. The cost is a
// visit of each word that a lane accesses.

#include "global_checker.h"

#include <algorithm>

#include "../../../common/base/error.h"
#include "../../../common/base/limits.h"

namespace sim {

namespace {

// The cells of all accounts of the program together.
uint64_t cells_in_use = 0;

bool room_for(uint64_t cells)
{
    static const uint64_t most = std::min(harness::available_memory(), harness::address_limit() / 2) / 4 / sizeof(Mark);
    return cells_in_use + cells <= most;
}

}  // namespace

Shadow::Shadow(uint64_t bytes) : bytes_(bytes)
{
    const uint64_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
    gave_up_ = !room_for(room_of_chunk * chunks);
    if (gave_up_) return;
    began_ = true;
    chunks_.resize(chunks);
    take(room_of_chunk * chunks);
}

Shadow::~Shadow() { take(0, cells_); }

void Shadow::take(uint64_t cells, uint64_t given_back)
{
    cells_ += cells - given_back;
    cells_in_use += cells - given_back;
}

bool Shadow::divide(Chunk& chunk, uint64_t cell_bytes)
{
    const uint64_t first = uint64_t(&chunk - chunks_.data()), bytes = end_of(first) - first * chunk_bytes;
    const uint64_t parts = chunk.cell_bytes / cell_bytes, had = room_of(chunk),
                   cells = (bytes + cell_bytes - 1) / cell_bytes;
    if (!room_for(had * (parts - 1))) {
        gave_up_ = true;
        std::vector<Chunk>().swap(chunks_);
        take(0, cells_);
        return false;
    }
    chunk.cells.divide(parts, cells);
    take(room_of(chunk), had);
    chunk.cell_bytes = cell_bytes;
    return true;
}

void Shadow::note_written(uint64_t offset, uint64_t bytes, bool written, Mark mark)
{
    if (!written) mark |= special;
    for (uint64_t at = offset; at < offset + bytes && !gave_up_;) {
        const uint64_t begin = at / chunk_bytes * chunk_bytes, end = std::min(offset + bytes, end_of(at / chunk_bytes));
        if (at == begin && end == end_of(at / chunk_bytes)) {
            Chunk& chunk = chunks_[at / chunk_bytes];
            take(0, room_of(chunk) - 1);
            chunk = Chunk();
            chunk.cells.last[0] = mark;
        } else {
            visit(at, end - at, [&](MemoryCells& cells, size_t index, uint64_t) { cells.last[index] = mark; });
        }
        at = end;
    }
}

uint64_t Shadow::first_unwritten(uint64_t offset, uint64_t bytes, const Elements& elements) const
{
    const uint64_t stop = offset + bytes;
    uint64_t first = stop, unwritten = stop;  // unwritten: where the unwritten rest of the current cell begins
    const auto end_cell = [&](uint64_t end) {
        while (unwritten < end && elements.pads(unwritten)) ++unwritten;
        if (unwritten < end) first = std::min(first, unwritten);
    };
    look(offset, bytes, [&](const MemoryCells& cells, size_t index, uint64_t at) {
        end_cell(at);
        unwritten = cells.unset(index, 1) ? at : stop;
    });
    end_cell(stop);
    return first;
}

void GlobalChecker::take(const PartOfRequest& part, const Cost&)
{
    const Allocation& first = static_cast<const Allocation&>(*part.array);
    if (!first.shadow) return;
    const Request& request = part.request;
    // Constant memory is only copied to, mostly as a whole: one word tells whether such a copy meets the kernel.
    const uint32_t lanes = part.space == constant ? request.lanes & -request.lanes : request.lanes;
    const unsigned bytes = bytes_of(request.site);
    const Kind kind = kind_of(request.site);
    const bool plain = strength_of(request.site) == as_data && kind != atomic;
    const Mark barrier = mark_of(order_.phase(), sites_.number_of(request.site), part.warp * warp_size);
    const Mark floor = Mark(hazards_.floor()) << time_shift;
    const uint32_t* const times = order_.eventful() ? request.times : nullptr;
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        // The lanes of a request may have pointers to different memory.
        const Allocation& memory =
            first.holds(request.address[lane]) ? first : *sim::memory().find(request.address[lane]);
        if (!memory.shadow) continue;
        Mark mark = barrier + Mark(lane);
        if (times && times[lane] > time_of(barrier)) mark += Mark(times[lane] - time_of(barrier)) << time_shift;
        bool unset = false, set = false;
        const uint64_t offset = request.address[lane] - memory.begin;
        memory.shadow->visit(offset, bytes, [&](MemoryCells& cells, size_t index, uint64_t at) {
            Mark& cell = cells.last[index];
            const bool found = kind == store || !cells.unset(index, 1);
            unset = unset || !found;
            set = set || found;
            // No other thread has accessed the cell in this launch.
            if (plain && cell < floor && (cell || kind == store)) cell = mark;
            else if (!hazards_.own(cell, mark, request.site))
                hazards_.note(cells, index, {request, lane, mark, memory.name, int64_t(at), memory.begin + at});
        });
        if (unset &&
            (kind == atomic || memory.shadow->first_unwritten(offset, bytes, memory.elements) < offset + bytes))
            hazards_.add_uninitialized(request.site, mark, memory, offset, set);
    }
}

void GlobalChecker::note_copy(Shadow& shadow, uint64_t offset, uint64_t bytes, bool writes, bool written)
{
    const Mark mark = mark_of(order_.phase(), writes ? Sites::copy_to : Sites::copy_from, 0);
    if (writes) return shadow.note_written(offset, bytes, written, mark);
    shadow.visit(offset, bytes,
                 [&](MemoryCells& cells, size_t index, uint64_t) { hazards_.remember(cells, index, mark); });
}

}  // namespace sim
