#include "sinks.h"

#include <algorithm>

#include "caches.h"
#include "checker.h"
#include "drawer.h"
#include "partitions.h"
#include "peers.h"
#include "sequence.h"
#include "splitter.h"
#include "tracer.h"

namespace sim {

struct Sinks::All {
    All(SharedMemory& shared, const Threads& of_block, const Order& order, Faults& faults)
        : threads(of_block),
          splitter(shared, counter),
          shared_checker(order, sites, shared, faults),
          global_checker(order, sites, faults),
          tracer(of_block)
    {
    }

    const Threads& threads;
    Counter counter;
    Splitter splitter;
    Sites sites;
    SharedChecker shared_checker;
    GlobalChecker global_checker;
    Tracer tracer;
    Drawer drawer;

    Windows* windows = nullptr;
    WindowShare share;
    uint64_t window = 0, earlier_blocks = 0;
    Caches caches{share};
    bool caches_used = false;
    Partitions partitions{share};
    PeerTraffic peers{share};

    Sequence sequence;  // of the warp that stopped last, since the barrier
    int warp = -1, next_request = 0;
};

Sinks::Sinks(SharedMemory& shared, const Threads& threads, const Order& order, Faults& faults)
    : all_(std::make_unique<All>(shared, threads, order, faults))
{
}

Sinks::~Sinks() = default;

void Sinks::start(const Settings& settings, const harness::Machine& machine, const Rules& rules, Windows& windows,
                  uint64_t earlier_blocks)
{
    All& all = *all_;
    all.windows = &windows;
    all.window = 0;
    all.earlier_blocks = earlier_blocks;
    all.share.clear();
    // A machine whose partitions are unknown gets one, whose traffic is not counted.
    const size_t partitions = size_t(std::max(machine.map.partitions, 1));
    all.share.read.assign(partitions, 0);
    all.share.write.assign(partitions, 0);

    all.counter.start(rules);
    all.caches.counts = {};
    all.caches_used = machine.roofline.stream_gbs > 0;
    all.global_checker.start(settings.beside);
    all.tracer.start(settings.trace, machine.map);
    all.splitter.start(settings.device, settings.several);
    if (all.caches_used) all.splitter.add(all.caches, {global, constant});
    if (machine.map.partitions) {
        all.partitions.start(machine);
        all.splitter.add(all.partitions, {global});
    }
    if (settings.several) all.splitter.add(all.peers, {peer});
    all.splitter.add(all.shared_checker, {shared});
    if (settings.exact) all.splitter.add(all.global_checker, {global, peer, constant});
    if (settings.trace) all.splitter.add(all.tracer, {global, peer, shared});
    if (settings.drawn) all.splitter.add(all.drawer, {global, peer, shared, local, constant});
}

void Sinks::start_block(uint64_t nth, uint64_t index, uint64_t l1_share, unsigned warps)
{
    All& all = *all_;
    if (all.caches_used) all.caches.start_block(l1_share, warps);
    const uint64_t window = all.windows->window_of(nth);
    if (window != all.window) finish();
    all.window = window;
    ++all.share.blocks;
    all.counter.start_block(all.earlier_blocks + nth);
    all.drawer.start_block(all.earlier_blocks + index);
    all.warp = -1;
}

int Sinks::start_warp(int warp)
{
    All& all = *all_;
    if (all.warp == warp) return all.next_request;
    all.sequence.clear();
    all.caches.warp_begins();
    all.warp = warp;
    return all.next_request = 0;
}

void Sinks::take(const Request& request)
{
    all_->sequence.add(request.site);
    all_->splitter.take(request, all_->warp);
}

void Sinks::warp_done(int next_request)
{
    all_->next_request = next_request;
    for (Sink* sink : all_->splitter.sinks()) sink->warp_done(all_->sequence, all_->threads);
}

void Sinks::barrier()
{
    all_->caches.barrier();
    all_->warp = -1;
}

void Sinks::block_done()
{
    for (Sink* sink : all_->splitter.sinks()) sink->block_done();
}

void Sinks::finish()
{
    if (all_->share.blocks) all_->windows->add(all_->window, all_->share);
}

GlobalChecker& Sinks::begin_copy(const std::vector<Beside>& beside)
{
    all_->global_checker.start(&beside);
    return all_->global_checker;
}

Counter& Sinks::counter() { return all_->counter; }

harness::RooflineCounts& Sinks::roofline() { return all_->caches.counts; }

}  // namespace sim
