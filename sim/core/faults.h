// Signals that a simulated thread raises.

#pragma once

#include <cstdint>

namespace sim {

// On this host thread, from now on. Called for each launch.
void catch_faults();

// For a handler of such signals: the place of the instruction, as the place of a call is that behind it.
uint64_t faulting_place(const void* context);
// True if it was a store, as far as the processor tells.
bool faulting_store(const void* context);

// Gives this host thread a stack for its handlers: one that has overflowed cannot run them. False if it has none.
bool use_signal_stack();

}  // namespace sim
