// Faults of threads that do not meet: at a barrier, in an operation of a warp, or never, because they do not end. In:
// who waits where, as threads.cpp found it. `block`: in the grid.

#pragma once

#include <cstdint>
#include <string>

#include "../lanes/waits.h"
#include "faults.h"

namespace sim {

// A fault of one thread at one place.
Fault fault_at(const FindingKind& kind, uint64_t block, uint64_t place, int thread, const std::string& text);

// Threads wait at different barriers: some where the first of them does, most of the others at the second place, and so
// many elsewhere.
Fault barriers_differ(uint64_t block, const Waiting& first, const Waiting& second, int elsewhere);
// A thread has left the kernel, and this machine's barrier waits for it.
Fault barrier_missed(uint64_t block, uint64_t place, int missing);
// Threads wait at a barrier, and others of their warps have passed it by.
Fault barrier_passed_by(uint64_t block, const Waiting& here, const Waiting& missing);
// Lanes wait for others that never come. `missing`: the first of those, and others that wait at the same place.
Fault lanes_missed(uint64_t block, uint64_t place, int thread, uint32_t mask, uint32_t came, const Waiting& missing);
// The mask of a lane names another one that comes with another mask, or lacks its own bit (`other` is `thread`).
Fault mask_differs(uint64_t block, uint64_t place, int thread, uint32_t mask, int other, uint32_t other_mask);
// A shuffle reads the value of a lane that takes no part in it, and `why`.
Fault lane_absent(uint64_t block, uint64_t place, int thread, unsigned source, const std::string& why);

// A thread makes the same turn for ever or, if it is not `stuck`, more turns than there may be. `awaited`: it waits for
// these arrivals at a barrier in memory.
std::string endless_text(bool stuck, const Arrivals* awaited, uint64_t most_turns);
// The end of that text where other blocks might have changed it. `later`: blocks that have not begun.
std::string later_blocks_text(uint64_t later, uint64_t blocks);

}  // namespace sim
