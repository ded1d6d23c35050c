#include "sinks.h"

#include <algorithm>

namespace sim {

Sinks::Sinks(SharedMemory& shared, const Threads& threads, const Order& order, Findings& findings)
    : threads_(threads),
      splitter_(shared, counter),
      shared_checker_(order, sites_, shared, findings),
      global_checker_(order, sites_, findings),
      tracer_(threads)
{
}

void Sinks::start(const Settings& settings, const harness::Machine& machine, const Rules& rules, Windows& windows,
                  uint64_t earlier_blocks)
{
    windows_ = &windows;
    window_ = 0;
    earlier_blocks_ = earlier_blocks;
    share_.clear();
    // A machine whose partitions are unknown gets one, whose traffic is not counted.
    const size_t partitions = size_t(std::max(machine.map.partitions, 1));
    share_.read.assign(partitions, 0);
    share_.write.assign(partitions, 0);

    counter.start(rules);
    caches_.counts = {};
    caches_used_ = machine.roofline.stream_gbs > 0;
    global_checker_.start(settings.beside);
    tracer_.start(settings.trace, machine.map);
    splitter_.start(settings.device, settings.several);
    if (caches_used_) splitter_.add(caches_, {global, local, constant});
    if (machine.map.partitions) {
        partitions_.start(machine);
        splitter_.add(partitions_, {global});
    }
    if (settings.several) splitter_.add(peers_, {peer});
    splitter_.add(shared_checker_, {shared});
    if (settings.exact) splitter_.add(global_checker_, {global, peer, constant});
    if (settings.trace) splitter_.add(tracer_, {global, peer, shared});
    if (settings.drawn) splitter_.add(drawer_, {global, peer, shared, local, constant});
}

void Sinks::start_block(uint64_t nth, uint64_t index, uint64_t l1_share, unsigned warps)
{
    if (caches_used_) caches_.start_block(l1_share, warps);
    const uint64_t window = windows_->window_of(nth);
    if (window != window_) finish();
    window_ = window;
    ++share_.blocks;
    counter.start_block(earlier_blocks_ + nth);
    drawer_.start_block(earlier_blocks_ + index);
    warp_ = -1;
}

void Sinks::finish()
{
    if (share_.blocks) windows_->add(window_, share_);
}

void Sinks::warp_begins(int warp)
{
    if (warp_ == warp) return;
    sequence_.clear();
    warp_ = warp;
    next_request = 0;
    caches_.warp_begins();
}

void Sinks::warp_done()
{
    for (Sink* sink : splitter_.sinks()) sink->warp_done(sequence_, threads_);
}

void Sinks::barrier()
{
    caches_.barrier();
    warp_ = -1;
}

void Sinks::block_done()
{
    for (Sink* sink : splitter_.sinks()) sink->block_done();
}

GlobalChecker& Sinks::begin_copy(const std::vector<Beside>& beside)
{
    global_checker_.start(&beside);
    return global_checker_;
}

}  // namespace sim
