// The indices of a thread and the shape of its grid, as CUDA has them. The compiler of a kernel takes them for
// constants, and calls no hook for a store to them that a cast hides. So they lie in a page of their own, which cannot
// be written: each such store faults (signals.cpp). The simulator writes them at a second address of the same page.

#pragma once

#include <cstdint>

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

namespace sim {

// A dim3 without constructors: of such a constant, compilers know that it never changes.
struct Dimensions {
    unsigned x, y, z;
    operator dim3() const { return {x, y, z}; }
    operator uint3() const { return {x, y, z}; }
};

}  // namespace sim

// The indices of the thread that is running. Kernels see constants, which are not watched.
extern const __thread uint3 threadIdx, blockIdx;
extern const __thread sim::Dimensions blockDim, gridDim;

namespace sim {

// The same variables of this host thread, for the simulator to set.
struct BuiltIns {
    uint3 thread, block;
    Dimensions block_size, grid_size;
};
extern __thread BuiltIns* built_ins;

// Gives the calling host thread its page. Called before it runs a kernel. Throws std::bad_alloc.
void close_built_ins();
// The name of the variable whose page holds the address, or null.
const char* built_in_at(uintptr_t address);

}  // namespace sim
