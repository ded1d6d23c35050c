// Faults of threads that do not meet: at a barrier, in an operation of a warp, or never, because they do not end. In:
// who waits where, as threads.cpp found it. `block`: in the grid.

#pragma once

#include <cstdint>
#include <string>

#include "../lanes/waits.h"
#include "../sinks/faults.h"

namespace sim {

// A fault of one thread at one place.
Fault fault_at(const FindingKind& kind, uint64_t block, uint64_t place, int thread, const std::string& text);

Fault fault_of(const Divergence& divergence, uint64_t block);
// A shuffle reads the value of a lane that takes no part in it, and `why`.
Fault lane_absent(uint64_t block, uint64_t place, int thread, unsigned source, const std::string& why);

// A thread makes the same turn for ever or, if it is not `stuck`, more turns than there may be. `awaited`: it waits for
// these arrivals at a barrier in memory.
std::string endless_text(bool stuck, const Arrivals* awaited, uint64_t most_turns);
// The end of that text where other blocks might have changed it. `later`: blocks that have not begun.
std::string later_blocks_text(uint64_t later, uint64_t blocks);

}  // namespace sim
