// From a stopped warp to counts and checks. In: blocks of a grid, taken from a common counter in chunks. Out: the
// host thread's own counts and findings, which grid.cpp adds up at the end.
//
// When a warp has stopped, its accesses become requests, in the order in which it made them. The parts of these
// (splitter.h) go to the sinks that the launch asked for.
//
// Invariant: no lock is taken for a request, because counter, checkers and findings are the host thread's own.

#include "worker.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "faults.h"
#include "witness.h"

namespace sim {
namespace {

thread_local Worker* worker = nullptr;

}  // namespace

Worker* Worker::here() { return worker; }

Worker::Worker() : threads_(record_, *this) {}

void Worker::start(Grid& grid)
{
    worker = this;
    catch_faults();
    grid_ = &grid;
    block_size = {grid.block.x, grid.block.y, grid.block.z};
    grid_size = {grid.grid.x, grid.grid.y, grid.grid.z};
    const bool lockstep = grid.machine->lockstep;
    threads_.start(grid.block, grid.code->threads, grid.code->arguments, lockstep);
    shared_.start(grid.launching->kernel, grid.launching->configuration.shared_bytes);
    order_.start_launch(grid.earlier_blocks, lockstep, settings().exact);
    global_checker_.start(settings().beside);
    likely = {};
    std::fill(std::begin(misaligned_), std::end(misaligned_), Misaligned());
    next_misaligned_ = 0;
    splitter_.start(settings().device, settings().several);
    splitter_.sinks.clear();
    if (settings().instruments) splitter_.sinks = {&counter, &shared_checker_};
    if (settings().instruments && settings().exact) splitter_.sinks.push_back(&global_checker_);
    if (settings().instruments && settings().trace) splitter_.sinks.push_back(&tracer_);
    tracer_.to = settings().trace;
    if (settings().instruments && settings().drawn) splitter_.sinks.push_back(&drawer_);
    drawer_.earlier_blocks = grid.earlier_blocks;
    counter.start(*grid.rules, *grid.machine, *grid.windows, grid.earlier_blocks);
}

// A copy is a launch of one block.
GlobalChecker& Worker::begin_copy(uint64_t block, const std::vector<Beside>& beside)
{
    if (order_.block() != block) {
        order_.start_launch(block - 1, false, true);
        order_.start_block(0);
    }
    global_checker_.start(&beside);
    return global_checker_;
}

void Worker::run_the_rest()
{
    for (;;) {
        const uint64_t first = grid_->next_block.fetch_add(grid_->chunk);
        if (first >= grid_->blocks || grid_->over()) break;
        for (uint64_t block = first; block < std::min(first + grid_->chunk, grid_->blocks) && !grid_->over(); ++block) {
            run_block(block);
            const uint64_t done = ++grid_->done;
            if (settings().block_done) settings().block_done(done, grid_->blocks);
        }
    }
    counter.finish();
    likely = {};  // the host is watched in another way
}

void Worker::run_block(uint64_t number)
{
    const dim3& grid = grid_->grid;
    const uint64_t block = grid_->block_at(number);
    block_index = {unsigned(block % grid.x), unsigned(block / grid.x % grid.y), unsigned(block / grid.x / grid.y)};
    block_ = block;
    counter.block(number, grid_->l1_share, unsigned(threads_.count() + warp_size - 1) / warp_size);
    order_.start_block(block);
    shared_.poison();
    if (witnessed) announce_memory(*this);
    sequence_warp_ = -1;
    if (std::exchange(has_locals_, false))
        for (auto& locals : locals_) locals.clear();
    std::fill(std::begin(doubtful_), std::end(doubtful_), 0);
    values_.clear();
    watching = true;
    threads_.run_block(grid_->alone);
    watching = false;
    most_shared_bytes = std::max(most_shared_bytes, shared_.static_bytes() + shared_.dynamic_bytes());
    for (Sink* sink : splitter_.sinks) sink->block_done();
}

void Worker::warp_stopped(int warp)
{
    if (sequence_warp_ != warp) {
        sequence_.clear();
        sequence_warp_ = warp;
        requests_ = 0;
        counter.warp_begins();
    }
    requests_ = record_.flush(requests_, order_.times(warp), [&](const Request& r) {
        if (settings().instruments) request(r, warp);
    });
    const BarrierOf barrier_of = [&](int thread) { return threads_.barrier_of(thread); };
    for (Sink* sink : splitter_.sinks) sink->warp_done(sequence_, barrier_of);
}

void Worker::barrier_opens()
{
    ++barriers;
    counter.barrier();
    order_.barrier();
    sequence_warp_ = -1;
}

void Worker::warp_syncs(int warp, uint32_t lanes)
{
    order_.meet(warp, lanes);
}

uint64_t Worker::changes() { return std::exchange(changes_, 0); }

// Adds the values that are new in their place to the hash of all changes, by which a block that hangs is found.
void Worker::note_change(const Request& request)
{
    if (kind_of(request.site) != store && kind_of(request.site) != atomic) return;
    for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) {
        const uint64_t address = request.address[__builtin_ctz(lanes)];
        if (address >= local_addresses) return;  // the hash of the stack has it already
        const uint64_t value = hash_of(address, reinterpret_cast<const void*>(address), bytes_of(request.site));
        if (std::exchange(values_[address], value) != value) changes_ = hash_of(changes_, &value, sizeof value);
    }
}

void Worker::request(const Request& request, int warp)
{
    if (__builtin_expect(threads_.runs_long(), 0)) note_change(request);
    if (__builtin_expect(doubtful_[warp], 0)) look_for_doubt(request, warp);
    sequence_.add(request.site);
    splitter_.take(request, warp);
}

}  // namespace sim
