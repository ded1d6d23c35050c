// Races and uninitialized loads in global memory, inside a block, between blocks, and with other launches and
// copies. In: the requests of a warp. Out: suspicious pairs of accesses for hazards.cpp, and findings.
//
// Each word has its last store and its last loads, with block, epoch and time. A record takes up to sixteen times
// the memory of the word, so memory is recorded in chunks of 4 kB that stay one cell as long as all of their words
// are alike, as after a copy. A chunk gets a cell for each word, or for each byte, when it is first accessed in
// part. All records together have a limit. A record that would pass it gives up, and says so.
//
// An earlier launch is ordered before this one unless it is among those that may run beside it. The cost is a visit
// of each word that a lane accesses.

#include "global_checker.h"

#include <algorithm>
#include <cstring>

#include "../../common/base/error.h"
#include "../../common/base/limits.h"
#include "../elf/places.h"
#include "worker.h"

namespace sim {

std::string Beside::text() const
{
    const Place at = place_of(uint64_t(place));
    return harness::format("%s%s at %s%s", name, launch ? ", launched" : "",
                           at.file.empty() ? "an unknown line"
                                           : harness::format("%s:%d", at.file.c_str(), at.line).c_str(),
                           device >= 0 ? harness::format(" on device %d", device).c_str() : "");
}

const char* verb(const char* function, bool writes)
{
    return !writes                                         ? " reads it"
           : std::strncmp(function, "cudaMalloc", 10) == 0 ? " allocates it"
           : std::strncmp(function, "cudaFree", 8) == 0    ? " frees it"
                                                           : " writes it";
}

std::string Beside::text(bool writes) const { return text() + verb(name, writes); }

const Beside* beside_of(uint64_t block, const std::vector<Beside>& all)
{
    const auto after =
        std::upper_bound(all.begin(), all.end(), block, [](uint64_t b, const Beside& one) { return b <= one.first; });
    if (after == all.begin()) return nullptr;
    const Beside& one = *std::prev(after);
    return block <= one.first + one.blocks ? &one : nullptr;
}

namespace {

// The cells of all accounts of the program together.
uint64_t cells_in_use = 0;

bool room_for(uint64_t cells)
{
    static const uint64_t most =
        std::min(harness::available_memory(), harness::address_limit() / 2) / 4 / sizeof(Shadow::Cell);
    return cells_in_use + cells <= most;
}

}  // namespace

Shadow::Shadow(uint64_t bytes) : bytes_(bytes)
{
    const uint64_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
    gave_up_ = !room_for(2 * chunks);  // a chunk without cells is smaller than two cells
    if (gave_up_) return;
    began_ = true;
    chunks_.resize(chunks);
    take(2 * chunks);
}

Shadow::~Shadow() { take(0, cells_); }

void Shadow::take(uint64_t cells, uint64_t given_back)
{
    cells_ += cells - given_back;
    cells_in_use += cells - given_back;
}

bool Shadow::divide(Chunk& chunk, uint64_t cell_bytes)
{
    const uint64_t first = uint64_t(&chunk - chunks_.data()), bytes = end_of(first) - first * chunk_bytes,
                   cells = (bytes + cell_bytes - 1) / cell_bytes;
    if (!room_for(cells)) {
        gave_up_ = true;
        std::vector<Chunk>().swap(chunks_);
        take(0, cells_);
        return false;
    }
    take(cells, chunk.cells.size());
    std::vector<Cell> divided(cells, chunk.all);
    if (!chunk.cells.empty())
        for (size_t i = 0; i < divided.size(); ++i) divided[i] = chunk.cells[i * cell_bytes / chunk.cell_bytes];
    chunk.cells.swap(divided);
    chunk.cell_bytes = cell_bytes;
    return true;
}

void Shadow::note_written(uint64_t offset, uint64_t bytes, uint64_t block, bool written)
{
    Cell now;
    now.written = written;
    now.writer_block = block;
    for (uint64_t at = offset; at < offset + bytes && !gave_up_;) {
        const uint64_t begin = at / chunk_bytes * chunk_bytes, end = std::min(offset + bytes, end_of(at / chunk_bytes));
        if (at == begin && end == end_of(at / chunk_bytes)) {
            Chunk& chunk = chunks_[at / chunk_bytes];
            take(0, chunk.cells.size());
            chunk = Chunk();
            chunk.all = now;
        } else {
            visit(at, end - at, [&](Cell& cell, uint64_t) { cell = now; });
        }
        at = end;
    }
}

void Shadow::note_read(uint64_t offset, uint64_t bytes, uint64_t block)
{
    visit(offset, bytes, [&](Cell& cell, uint64_t) {
        cell.note_load(0, 0, 0, 0, true);
        cell.reader_block = block;
    });
}

uint64_t Shadow::first_unwritten(uint64_t offset, uint64_t bytes, const Elements& elements) const
{
    const uint64_t stop = offset + bytes;
    uint64_t first = stop, unwritten = stop;  // the cell at hand, from where on it is not written
    const auto end_cell = [&](uint64_t end) {
        while (unwritten < end && elements.pads(unwritten)) ++unwritten;
        if (unwritten < end) first = std::min(first, unwritten);
    };
    look(offset, bytes, [&](const Cell& cell, uint64_t at) {
        end_cell(at);
        unwritten = cell.written ? stop : at;
    });
    end_cell(stop);
    return first;
}

void GlobalChecker::check(const Request& request, int first_thread, const Allocation& first, Findings& findings)
{
    const unsigned bytes = bytes_of(request.site);
    const Kind kind = kind_of(request.site);
    const uint64_t block = order_.block();
    const std::vector<Beside>* const beside = settings().beside;
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(request.lanes >> lane & 1)) continue;
        // The lanes of a request may have pointers to different memory.
        const Allocation& memory =
            first.holds(request.address[lane]) ? first : *sim::memory().find(request.address[lane]);
        if (!memory.shadow) continue;
        const Moment at{block, order_.epoch(), request.times[lane], first_thread + lane};
        const Actor actor = actor_of(at.thread, strength_of(request.site));
        bool unset = false, set = false;
        memory.shadow->visit(request.address[lane] - memory.begin, bytes, [&](Shadow::Cell& cell, uint64_t offset) {
            const auto conflict = [&](uint32_t place, Kind other_kind, Actor who, uint64_t other_block, uint32_t epoch,
                                      uint32_t time) {
                if (other_block <= order_.first_block()) {
                    const Beside* other =
                        !beside || (strength_of(request.site) != as_data && strength_of_actor(who) != as_data)
                            ? nullptr
                            : beside_of(other_block, *beside);
                    if (other) note_beside(*other, request, at.thread, memory, int64_t(offset), other_kind);
                    return;
                }
                if (other_block == block && (thread_of(who) == at.thread || epoch != at.epoch)) return;
                hazards_.look({request.site,
                               site_of(return_address(place), other_kind, 2),
                               at,
                               {other_block, epoch, time, thread_of(who)},
                               strength_of_actor(who),
                               request.order,
                               &memory.name,
                               int64_t(offset),
                               memory.begin + offset,
                               request.address[lane],
                               request.before(lane)});
            };
            unset = unset || (kind != store && !cell.written);
            set = set || cell.written;
            if (cell.writer_block)
                conflict(cell.write_site, store, cell.writer, cell.writer_block, cell.write_epoch, cell.write_time);
            if (kind != load && cell.reader_block) {
                conflict(cell.read_site, load, cell.reader, cell.reader_block, cell.read_epoch, cell.read_time);
                if (cell.other_reader != cell.reader)
                    conflict(cell.read_site, load, cell.other_reader, cell.reader_block, cell.read_epoch,
                             cell.other_read_time);
            }
            if (kind != load) {
                cell.note_store(actor, at.epoch, at.time, uint32_t(request.site));
                cell.writer_block = block;
                cell.written = true;
            } else {
                cell.note_load(actor, at.epoch, at.time, uint32_t(request.site),
                               cell.reader_block != block || cell.read_epoch != at.epoch);
                cell.reader_block = block;
            }
        });
        const uint64_t offset = request.address[lane] - memory.begin;
        if (unset &&
            (kind == atomic || memory.shadow->first_unwritten(offset, bytes, memory.elements) < offset + bytes))
            findings.add({Fault::uninitialized, request.site, 0, at.thread, 0, block - order_.first_block() - 1,
                          memory.name, int64_t(offset), 1, 0, true, set ? maybe_padding : ""});
    }
}

void GlobalChecker::note_beside(const Beside& other, const Request& request, int thread, const Allocation& memory,
                                int64_t offset, Kind other_kind)
{
    for (Meeting& m : meetings_)
        if (m.other == &other && m.finding.first == request.site) {
            ++m.finding.count;
            return;
        }
    const uint64_t block = order_.block() - order_.first_block() - 1;
    meetings_.push_back({&other,
                         {Fault::race_beside, request.site, 0, thread, 0, block, memory.name, offset, 1, block, true,
                          other.text(other_kind != load)}});
    meetings_.back().finding.beside = uint64_t(other.place);
}

void GlobalChecker::block_done(Findings& findings)
{
    hazards_.block_done(findings);
    for (const Meeting& m : meetings_) findings.add(m.finding);
    meetings_.clear();
}

}  // namespace sim
