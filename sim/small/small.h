// CUDA's words for small.cpp. run.sh puts this in the place of common/step.h.

#pragma once

#include <cstddef>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __shared__ static          // one block runs at a time
#define __constant__ static const  // the compiler does not watch what is const
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace small {

extern struct Index { dim3 grid_size{1}, block_size{1}, block{0}, thread{0}; } now;  // of the thread that runs

void launch(dim3 grid, dim3 block, const std::function<void()>& thread);
void barrier();

using Pass = void (*)(float* odata, const float* idata, int width, int height);
struct Kernel { Kernel(const char* name, Pass pass); };

}  // namespace small

#define gridDim small::now.grid_size
#define blockDim small::now.block_size
#define blockIdx small::now.block
#define threadIdx small::now.thread
inline void __syncthreads() { small::barrier(); }
template <typename T>
T __ldg(const T* address) { return *address; }

// A step's kernel, for floats. Last, if the launcher takes it, the shape of a block.
#define KERNEL(kernel, row, produces, launcher, ...)                                                           \
    static small::Kernel kernel##_added(#kernel, [](float* odata, const float* idata, int width, int height) { \
        launcher(odata, idata, width, height, ##__VA_ARGS__);                                                  \
    });
#define BLOCK_KERNEL(kernel, row, produces, launcher, x, y) KERNEL(kernel, row, produces, launcher, dim3(x, y))
