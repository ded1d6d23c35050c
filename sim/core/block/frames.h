// Frames of functions on the stack of a thread. Kernels are compiled so that each function keeps the address of its
// caller's frame where its own begins.

#pragma once

#include <cstdint>

#include "../lanes/access.h"
#include "../lanes/fibers.h"

namespace sim {

struct Frame {
    const Frame* link;  // of the caller
    uint64_t back;      // where the function returns to
};

// The frame of a function that a hook is, or was called by. It is copied, because it may be gone soon: compilers turn
// the last call of a function into a jump.
struct Caller {
    explicit Caller(const void* frame) : at(static_cast<const Frame*>(frame)), frame(*at) {}
    const Frame* at;
    Frame frame;
};

// Says what is wrong with an access of so many bytes on a fiber's stack; null: nothing.
const char* fault_on_stack(const Fibers& fibers, const Caller& caller, const Access& access, unsigned bytes);

}  // namespace sim
