// Races and uninitialized loads in shared memory. In: the requests of a warp. Out: suspicious pairs of accesses for
// hazards.cpp, and findings.
//
// Each word has the last store and the last loads by two different threads, with the epoch of each. An access is
// harmless if nobody else has been at the word since the barrier, which one comparison of epochs shows. Only
// otherwise is it looked at. A word whose last store is older than the block has nothing to load. Words become bytes
// when an element smaller than a word is first accessed.
//
// The record is overwritten and never cleared, because a new block begins a new epoch. The cost is a few
// instructions for each lane.

#include "checker.h"

#include <algorithm>

namespace sim {

// From now on, neighbouring bytes may belong to different threads.
void SharedChecker::make_fine()
{
    std::vector<LastAccesses> fine(cells_.size() * 4);
    for (size_t i = 0; i < fine.size(); ++i) fine[i] = cells_[i / 4];
    cells_.swap(fine);
    shift_ = 0;
}

void SharedChecker::check(const Request& request, int first_thread, const SharedArray& array, Findings& findings)
{
    const unsigned bytes = bytes_of(request.site);
    if (bytes < 4 && shift_) make_fine();
    const size_t room = (array.cell + array.bytes + 15) >> shift_;
    if (room > cells_.size()) cells_.resize(std::max(room, 2 * cells_.size()));
    // The usual case is a full warp of words. What does not change is kept out of the loop by hand: the
    // compiler cannot tell that storing to a cell does not change it.
    bytes == 4 && shift_ ? check_cells<1>(request, first_thread, array, findings)
                         : check_cells<0>(request, first_thread, array, findings);
}

// `fixed`: the cells of an access, where they are known; otherwise 0.
template <unsigned fixed>
void SharedChecker::check_cells(const Request& request, int first_thread, const SharedArray& array, Findings& findings)
{
    const unsigned shift = shift_, cells = fixed ? fixed : bytes_of(request.site) >> shift;
    const Kind kind = kind_of(request.site);
    const Strength strength = strength_of(request.site);
    const uint32_t epoch = order_.epoch(), block_epoch = order_.block_epoch(), here = uint32_t(request.site),
                   lanes = request.lanes;
    const uint32_t* const times = request.times;
    const uint64_t *const address = request.address, begin = array.begin;
    LastAccesses* const first = cells_.data() + (array.cell >> shift);
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const Actor actor = actor_of(first_thread + lane, strength);
        const uint32_t time = times[lane];
        const uint64_t offset = address[lane] - begin;
        LastAccesses* cell = first + (offset >> shift);
        for (unsigned i = 0; i < cells; ++i, ++cell) {
            // Nobody else was here since the barrier, and a load finds something.
            const bool usual = cell->read_epoch != epoch && cell->write_epoch != epoch &&
                               (kind == store || cell->write_epoch >= block_epoch);
            if (__builtin_expect(!usual, 0))
                look(*cell, request, lane, first_thread + lane, array, offset + (i << shift), findings);
            if (kind != load) cell->note_store(actor, epoch, time, here);
            else cell->note_load(actor, epoch, time, here, cell->read_epoch != epoch);
        }
    }
}

// Looks for what is wrong with an access to a cell that was accessed since the barrier, or never.
void SharedChecker::look(const LastAccesses& cell, const Request& request, int lane, int thread,
                         const SharedArray& array, uint64_t offset, Findings& findings)
{
    const Kind kind = kind_of(request.site);
    const auto conflict = [&](uint32_t other_place, Kind other_kind, Actor other, uint32_t time) {
        if (thread_of(other) == thread) return;
        hazards_.look({request.site,
                       site_of(return_address(other_place), other_kind, shift_ ? 2 : 0),
                       {order_.block(), order_.epoch(), request.times[lane], thread},
                       {order_.block(), order_.epoch(), time, thread_of(other)},
                       strength_of_actor(other),
                       request.order,
                       &array.name,
                       int64_t(offset),
                       array.begin + offset,
                       request.address[lane],
                       request.before(lane)});
    };
    if (cell.write_epoch == order_.epoch()) conflict(cell.write_site, store, cell.writer, cell.write_time);
    if (kind != load && cell.read_epoch == order_.epoch()) {
        conflict(cell.read_site, load, cell.reader, cell.read_time);
        if (cell.other_reader != cell.reader) conflict(cell.read_site, load, cell.other_reader, cell.other_read_time);
    }
    if (kind != store && cell.write_epoch < order_.block_epoch())
        findings.add({Fault::uninitialized, request.site, 0, thread, 0, order_.block() - order_.first_block() - 1,
                      array.name, int64_t(offset), 1, 0, false, ""});
}

}  // namespace sim
