// A launch on its way to the simulator: the kernel, its configuration, its arguments.

#pragma once

#include <cstddef>
#include <cstdint>

#include "indices.h"

namespace sim {

// The configuration between <<< and >>>.
struct Configuration {
    dim3 grid, block;
    size_t shared_bytes;
    void* stream;
    Configuration(dim3 grid, dim3 block, size_t shared_bytes = 0, void* stream = nullptr)
        : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream) {}
};

// The place of an argument of a launch in the host's memory.
struct Argument {
    uintptr_t begin;
    size_t bytes;
};

// A kernel that is about to run. `kernel`: its address, or null where the launch is of a template
// whose arguments are deduced. `name`: as it was written at the launch.
struct Launching {
    const void* kernel;
    const char* name;
    Configuration configuration;
    uint64_t arguments;  // a hash of them
    const void* place;   // of the launch
    const Argument* passed = nullptr;
    size_t passed_count = 0;
    // For a launch that another process asks for: `call` is the callable, and `again` launches it from copies of it and
    // of the arguments.
    Argument call{};
    void (*again)(const Launching& launching, void* const* objects) = nullptr;
};

// A kernel with its arguments. `threads` runs threads of it, for as long as next_thread() says that there is one for
// this fiber, with threadIdx and the others set.
struct Code {
    void (*threads)(const void* arguments);
    const void* arguments;
};

}  // namespace sim
