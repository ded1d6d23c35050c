// From a stopped warp to counts and checks. When a warp has stopped, its accesses become requests, in the order in
// which it made them, and these go to the sinks.
//
// Invariant: no lock is taken for a request, because sinks and findings are the host thread's own.

#include "worker.h"

#include <algorithm>

#include "divergence.h"

namespace sim {
namespace {

thread_local Worker* worker = nullptr;

}  // namespace

__thread bool watching;

Worker* Worker::here() { return worker; }

Worker::Worker()
    : threads_(columns_, *this),
      sinks_(shared_, threads_, order_, faults),
      watch_(threads_, columns_, shared_, faults, sinks_.counter().local_arrays)
{
}

void Worker::start(RunningGrid& grid)
{
    worker = this;
    grid_ = &grid;
    close_built_ins();
    built_ins->block_size = {grid.block.x, grid.block.y, grid.block.z};
    built_ins->grid_size = {grid.grid.x, grid.grid.y, grid.grid.z};
    const bool lockstep = grid.machine->lockstep;
    threads_.start(grid.block, grid.code->threads, grid.code->arguments, lockstep);
    shared_.start(grid.launching->kernel, grid.launching->configuration.shared_bytes);
    order_.start_launch(grid.earlier_blocks, lockstep, settings().exact);
    watch_.start(*grid.launching, settings());
    faults.ended = 0;
    sinks_.start(settings(), *grid.machine, *grid.rules, *grid.windows, grid.earlier_blocks);
}

// A copy is a launch of one block.
GlobalChecker& Worker::begin_copy(uint64_t block, const std::vector<Beside>& beside)
{
    if (order_.block() != block) {
        order_.start_launch(block - 1, false, true);
        order_.start_block(0);
    }
    return sinks_.begin_copy(beside);
}

void Worker::run_block(uint64_t number)
{
    const dim3& grid = grid_->grid;
    block_ = grid_->block_at(number);
    built_ins->block = {unsigned(block_ % grid.x), unsigned(block_ / grid.x % grid.y),
                        unsigned(block_ / grid.x / grid.y)};
    sinks_.start_block(number, block_, grid_->l1_share, unsigned(threads_.count() + warp_size - 1) / warp_size);
    order_.start_block(block_);
    shared_.poison();
    watch_.start_block(block_);
    doubts_.clear();
    changes_.clear();
    faults.ended = faults.ended ? Faults::in_an_earlier_block : 0;
    watching = true;
    threads_.run_block(grid_->alone);
    watching = false;
    most_shared_bytes = std::max(most_shared_bytes, shared_.static_bytes() + shared_.dynamic_bytes());
    sinks_.block_done();
}

void Worker::finish()
{
    sinks_.finish();
    Watch::forget_likely();  // the host is watched in another way
}

void Worker::warp_stopped(int warp)
{
    const int first = sinks_.start_warp(warp);
    const int next = columns_.flush(first, order_.times(warp), [&](const Request& request) {
        if (!settings().instruments) return;
        if (__builtin_expect(threads_.runs_long(), 0)) changes_.note(request);
        if (__builtin_expect(doubts_.any(warp), 0)) doubts_.look(request, warp, faults);
        sinks_.take(request);
    });
    sinks_.warp_done(next);
}

void Worker::barrier_opens()
{
    ++barriers;
    if (faults.ended & Faults::in_this_block) faults.ended |= Faults::before_a_barrier;
    sinks_.barrier();
    order_.barrier();
}

// Room is made before the event happens: the stack of a thread that waits for ever has no time that grows
// (Threads::stuck).
template <typename Event>
void Worker::note_event(uint64_t place, Event event)
{
    if (cursor.full()) watch_.make_room(place);
    if (const uint32_t time = event()) cursor.put({time, event_of(place) | turn});
}

void Worker::note_fence(Scope scope, uint64_t place)
{
    note_event(place, [&] { return order_.fence(threads_.current(), scope); });
}

void Worker::note_release(uintptr_t address, bool relaxed, Scope scope, uint64_t place)
{
    note_event(place, [&] { return order_.release(threads_.current(), address, !relaxed, scope); });
}

void Worker::note_acquire(uintptr_t address, bool relaxed, uint64_t place)
{
    note_event(place, [&] { return order_.acquire(threads_.current(), address, relaxed); });
}

void Worker::note_absent(unsigned source, uint32_t mask, bool spare, uint64_t place)
{
    const int thread = threads_.current(), other = thread / warp_size * warp_size + int(source);
    const Fault fault = lane_absent(block_, place, thread, source,
                                        other >= threads_.count()  ? "the block does not have"
                                        : !(mask >> source & 1)    ? "is not in the mask"
                                        : threads_.has_left(other) ? "has left the kernel"
                                                                   : "takes no part in it");
    if (spare) doubts_.add(thread, fault);
    else faults.add(fault);
}

void Worker::diverge(const Divergence& divergence) { faults.add(fault_of(divergence, block_)); }

void Worker::never_ends(uint64_t place, int thread, bool stuck, const Arrivals* awaited)
{
    grid_->endless = true;
    faults.ended |= Faults::in_this_block;
    std::string text = endless_text(stuck, awaited, most_turns());
    const uint64_t later = grid_->blocks - grid_->done - 1;
    if (stuck && later && !(awaited && shared_.find(uintptr_t(awaited->barrier))))
        text += later_blocks_text(later, grid_->blocks);
    faults.add(fault_at(kinds::endless_loop, block_, place, thread, text));
}

}  // namespace sim
