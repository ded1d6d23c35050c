// Signals that a simulated thread raises.

#pragma once

#include <cstdint>

namespace sim {

// Handles these signals on this host thread from now on. It is called for each launch.
void catch_signals();

// For handlers of such signals: the faulting instruction as a return address, which lies behind the instruction.
uint64_t faulting_place(const void* context);
// True if it was a store, as far as the processor tells.
bool faulting_store(const void* context);

// Gives this host thread a stack for its handlers, because one that has overflowed cannot run them. False if there is
// no memory for it.
bool use_signal_stack();

}  // namespace sim
