// The sinks of one host thread, and which of them a launch asks for.

#pragma once

#include "caches.h"
#include "checker.h"
#include "counter.h"
#include "drawer.h"
#include "global_checker.h"
#include "partitions.h"
#include "peers.h"
#include "sequence.h"
#include "settings.h"
#include "splitter.h"
#include "tracer.h"
#include "windows.h"

namespace sim {

class Sinks {
public:
    Sinks(SharedMemory& shared, const Threads& threads, const Order& order, Findings& findings);
    // A launch begins. `earlier_blocks`: the number of blocks of all earlier launches.
    void start(const Settings& settings, const harness::Machine& machine, const Rules& rules, Windows& windows,
               uint64_t earlier_blocks);
    // The next requests are this block's, the nth that runs. `index`: in the grid. `l1_share`: bytes of the L1 that it
    // has.
    void start_block(uint64_t nth, uint64_t index, uint64_t l1_share, unsigned warps);
    void warp_begins(int warp);  // after a barrier, or since the block began
    void take(const Request& request)
    {
        sequence_.add(request.site);
        splitter_.take(request, warp_);
    }
    void warp_done();
    void barrier();
    void block_done();
    void finish();  // the launch ends: hands the rest of the traffic over
    GlobalChecker& begin_copy(const std::vector<Beside>& beside);

    // The number of the warp's next request since the barrier.
    int next_request = 0;
    // Counts since they were last taken.
    Counter counter;
    harness::RooflineCounts& roofline() { return caches_.counts; }

private:
    const Threads& threads_;
    Windows* windows_ = nullptr;
    uint64_t window_ = 0;
    WindowShare share_;
    uint64_t earlier_blocks_ = 0;
    Sites sites_;
    Splitter splitter_;
    Caches caches_{share_};
    bool caches_used_ = false;
    Partitions partitions_{share_};
    PeerTraffic peers_{share_};
    SharedChecker shared_checker_;
    GlobalChecker global_checker_;
    Tracer tracer_;
    Drawer drawer_;
    Sequence sequence_;  // of the warp that stopped last, since the barrier
    int warp_ = -1;
};

}  // namespace sim
