// A grid that runs, as all host threads see it that share its blocks.

#pragma once

#include <atomic>
#include <cstdint>

#include "../lanes/launching.h"
#include "../lanes/threads.h"
#include "../sinks/rules.h"
#include "../sinks/settings.h"
#include "../sinks/windows.h"

namespace sim {

struct RunningGrid {
    const Launching* launching;
    const Code* code;
    const Settings* settings;
    const harness::Machine* machine;
    const Rules* rules;
    Windows* windows;
    dim3 grid{}, block{};
    uint64_t blocks = 0;                  // that run
    uint64_t earlier_blocks = 0;          // of earlier launches
    uint64_t chunk = 1;                   // blocks taken at a time
    std::atomic<uint64_t> next_block{0};  // the first one nobody has taken
    bool alone = true;                    // one host thread runs them all
    std::atomic<bool> endless{false};     // a thread was found that never ends: the grid ends there
    uint64_t l1_share = 0;                // bytes of the L1 that a block has
    uint64_t all_blocks = 0;              // of the grid: more than `blocks` if these are a sample
    std::atomic<uint64_t> done{0};        // blocks that have run

    // The number of the nth block of a sample: the first, the last, and others evenly between.
    uint64_t block_at(uint64_t n) const
    {
        if (blocks < 2 || blocks == all_blocks) return n;
        return uint64_t((unsigned __int128)n * (all_blocks - 1) / (blocks - 1));
    }
    bool over() const { return stopping || endless; }
};

}  // namespace sim
