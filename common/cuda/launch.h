// The GPU as a kernel file sees it: LAUNCH and the registration of kernels.

#pragma once

#include <cuda_runtime.h>

#include "../kernel.h"

namespace cuda {

template <typename... Parameters>
auto launch(void (*kernel)(Parameters...), dim3 grid, dim3 block)
{
    return [=](Parameters... arguments) {
        dim3 deep = grid;
        deep.z = harness::note_launch(reinterpret_cast<const void*>(kernel), grid, block, arguments...);
        kernel<<<deep, block>>>(arguments...);
    };
}

// Sixteen bytes, loaded and stored by one instruction.
template <typename T>
struct alignas(16) Vector {
    T element[16 / sizeof(T)];
    __device__ T& operator[](int i) { return element[i]; }
};

template <typename Pass>
using Registration = harness::Registration<Pass, float, double, int>;

constexpr char name[] = "cuda";

}  // namespace cuda

using cuda::Vector;

#define LAUNCH(kernel, grid, block) cuda::launch(kernel, grid, block)
