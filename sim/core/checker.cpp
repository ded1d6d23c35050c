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
//
// Most blocks of a kernel make the same requests to shared memory. A block with nothing suspicious is the model for the
// next ones. What is suspicious depends on requests and barriers alone, so a block that makes the same ones has nothing
// suspicious either. It is enough to compare them: three numbers where the lanes are evenly spaced. At the first
// request that differs, those before it are entered into the record, and the block is checked as any other. This also
// happens before the first event other than a barrier, because the record has the times of accesses.
//
// Invariant: either all requests of a block so far are in the record, or they are the first ones of the model.

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

void SharedChecker::start_launch()
{
    model_.clear();
    unlike_ = 0;
    start_block();
}

void SharedChecker::start_block()
{
    next_ = 0;
    repeats_ = !model_.empty();
    models_ = !repeats_ && unlike_ < patience;
}

void SharedChecker::block_done(Findings& findings)
{
    hazards_.block_done(findings);
    unlike_ = repeats_ ? 0 : unlike_ + 1;
    if (!repeats_ && !models_) model_.clear();
    start_block();
}

bool SharedChecker::is_again(const Made& made, const Request& request, int first_thread) const
{
    if (made.site != request.site || made.lanes != request.lanes || made.first_thread != first_thread ||
        made.phase != phase())
        return false;
    uint64_t stride, differ = 0;
    if (request.evenly_spaced(stride))
        return made.even && made.address[0] == request.address[0] && made.address[1] - made.address[0] == stride;
    for (int lane = 0; lane < warp_size; ++lane)
        if (request.lanes >> lane & 1) differ |= made.address[lane] ^ request.address[lane];
    return differ == 0;
}

void SharedChecker::check(const Request& request, int first_thread, const SharedArray& array, Findings& findings)
{
    if (repeats_ && next_ < model_.size() && is_again(model_[next_], request, first_thread)) ++next_;
    else check_anew(request, first_thread, array, findings);
}

void SharedChecker::check_anew(const Request& request, int first_thread, const SharedArray& array, Findings& findings)
{
    if (repeats_) catch_up(findings);
    if (models_ && model_.size() == longest) models_ = false;
    if (models_) {
        uint64_t stride;
        const bool even = request.evenly_spaced(stride);
        model_.push_back({request.site, request.lanes, phase(), first_thread, even, &array, {}});
        std::copy(request.address, request.address + warp_size, model_.back().address);
    }
    check_in(order_.epoch(), request, first_thread, array, findings);
}

// The block no longer repeats the model: what it has done so far is entered into the record.
void SharedChecker::catch_up(Findings& findings)
{
    repeats_ = false;
    models_ = unlike_ < patience;
    model_.resize(next_);
    for (const Made& made : model_)
        check_in(order_.block_epoch() + made.phase,
                 {made.site, made.lanes, made.address, 0, order_.times(made.first_thread / warp_size)},
                 made.first_thread, *made.array, findings);
}

void SharedChecker::check_in(uint32_t epoch, const Request& request, int first_thread, const SharedArray& array,
                             Findings& findings)
{
    const unsigned bytes = bytes_of(request.site);
    if (bytes < 4 && shift_) make_fine();
    const size_t room = (array.cell + array.bytes + 15) >> shift_;
    if (room > cells_.size()) cells_.resize(std::max(room, 2 * cells_.size()));
    // The usual case is a full warp of words. What does not change is kept out of the loop by hand: the
    // compiler cannot tell that storing to a cell does not change it.
    bytes == 4 && shift_ ? check_cells<1>(epoch, request, first_thread, array, findings)
                         : check_cells<0>(epoch, request, first_thread, array, findings);
}

// `fixed`: the cells of an access, where they are known; otherwise 0.
template <unsigned fixed>
void SharedChecker::check_cells(uint32_t epoch, const Request& request, int first_thread, const SharedArray& array,
                                Findings& findings)
{
    const unsigned shift = shift_, cells = fixed ? fixed : bytes_of(request.site) >> shift;
    const Kind kind = kind_of(request.site);
    const Strength strength = strength_of(request.site);
    const uint32_t block_epoch = order_.block_epoch(), here = uint32_t(request.site), lanes = request.lanes;
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
                look(epoch, *cell, request, lane, first_thread + lane, array, offset + (i << shift), findings);
            if (kind != load) cell->note_store(actor, epoch, time, here);
            else cell->note_load(actor, epoch, time, here, cell->read_epoch != epoch);
        }
    }
}

// Looks for what is wrong with an access to a cell that was accessed since the barrier, or never.
void SharedChecker::look(uint32_t epoch, const LastAccesses& cell, const Request& request, int lane, int thread,
                         const SharedArray& array, uint64_t offset, Findings& findings)
{
    const Kind kind = kind_of(request.site);
    const auto conflict = [&](uint32_t other_place, Kind other_kind, Actor other, uint32_t time) {
        if (thread_of(other) == thread) return;
        models_ = false;
        hazards_.look({request.site,
                       site_of(return_address(other_place), other_kind, shift_ ? 2 : 0),
                       {order_.block(), epoch, request.times[lane], thread},
                       {order_.block(), epoch, time, thread_of(other)},
                       strength_of_actor(other),
                       request.order,
                       &array.name,
                       int64_t(offset),
                       array.begin + offset,
                       request.address[lane],
                       request.before(lane)});
    };
    if (cell.write_epoch == epoch) conflict(cell.write_site, store, cell.writer, cell.write_time);
    if (kind != load && cell.read_epoch == epoch) {
        conflict(cell.read_site, load, cell.reader, cell.read_time);
        if (cell.other_reader != cell.reader) conflict(cell.read_site, load, cell.other_reader, cell.other_read_time);
    }
    bool padding = true;
    for (uint64_t at = offset; at < offset + (1u << shift_); ++at) padding = padding && array.elements.pads(at);
    if (kind != store && cell.write_epoch < order_.block_epoch() && !padding) {
        models_ = false;
        const LastAccesses* const first = &cell - ((array.begin + offset - request.address[lane]) >> shift_);
        const bool some = std::any_of(first, first + (bytes_of(request.site) >> shift_),
                                      [&](const LastAccesses& c) { return c.write_epoch >= order_.block_epoch(); });
        findings.add({Fault::uninitialized, request.site, 0, thread, 0, order_.block() - order_.first_block() - 1,
                      array.name, int64_t(offset), 1, 0, false, some ? maybe_padding : ""});
    }
}

}  // namespace sim
