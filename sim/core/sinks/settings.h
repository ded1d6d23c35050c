// The settings of a launch.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../../common/base/machine.h"
#include "../../../common/base/traced_request.h"
#include "beside.h"

namespace sim {

struct Settings {
    const harness::Machine* machine = nullptr;  // that is counted for; null: the H200
    bool instruments = true;  // count and check. If not, requests are formed and dropped: to measure what that costs
    bool exact = false;       // look for races in global memory, in allocations that have a Shadow; by one host thread
    bool alone = false;       // one host thread runs all blocks, in order, so that a kernel whose blocks race
                              // does the same in every run
    uint64_t sample = 0;      // so many blocks run: the first, the last, and others evenly between; 0: all
    int device = 0;           // that runs the kernel
    bool several = false;     // there are several devices
    uint32_t peers = 0;       // bit d: the kernel's device may access the memory of device d
    const std::vector<Beside>* beside = nullptr;  // what may run at the same time as the launch; null: nothing
    const harness::TraceSink* trace = nullptr;    // gets every request, in the order of the blocks
    bool drawn = false;                           // keep some requests of each place, for a page that draws them
    // Called by all host threads that run blocks.
    void (*block_done)(uint64_t done, uint64_t blocks) = nullptr;
    void (*prints)(const char* text) = nullptr;  // of printf in a kernel; null: to stdout
    // Says what is wrong with an address that a kernel uses; empty if nothing is known of it.
    std::string (*bad_address)(uintptr_t address) = nullptr;
};

}  // namespace sim
