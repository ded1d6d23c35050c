// The sinks of one host thread. Which of them a launch asks for is written in sinks.cpp, and nowhere else.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "faults.h"
#include "../lanes/threads.h"
#include "../memory/shared_memory.h"
#include "counter.h"
#include "global_checker.h"
#include "order.h"
#include "settings.h"
#include "windows.h"

namespace sim {

class Sinks {
public:
    Sinks(SharedMemory& shared, const Threads& threads, const Order& order, Faults& faults);
    ~Sinks();

    // A launch begins. `earlier_blocks`: the number of blocks of all earlier launches.
    void start(const Settings& settings, const harness::Machine& machine, const Rules& rules, Windows& windows,
               uint64_t earlier_blocks);
    // The next requests are this block's, the nth that runs. `index`: in the grid. `l1_share`: bytes of the L1 that it
    // has.
    void start_block(uint64_t nth, uint64_t index, uint64_t l1_share, unsigned warps);
    // The next requests are this warp's. Returns the number of the first of them since the barrier.
    int start_warp(int warp);
    void take(const Request& request);
    void warp_done(int next_request);
    void barrier();
    void block_done();
    void finish();  // the launch ends: hands the rest of the traffic over
    GlobalChecker& begin_copy(const std::vector<Beside>& beside);

    // Counts since they were last taken.
    Counter& counter();
    harness::RooflineCounts& roofline();

private:
    struct All;
    std::unique_ptr<All> all_;
};

}  // namespace sim
