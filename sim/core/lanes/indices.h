// The indices of a thread and the shape of its grid, as CUDA has them. The compiler of a kernel takes them for
// constants.

#pragma once

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

// The same variables, for the simulator to set.
extern __thread uint3 thread_index asm("threadIdx"), block_index asm("blockIdx");
extern __thread Dimensions block_size asm("blockDim"), grid_size asm("gridDim");

}  // namespace sim
