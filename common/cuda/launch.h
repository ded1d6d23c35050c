// The GPU as a kernel file sees it: LAUNCH and the registration of kernels.

#pragma once

#include <cuda_runtime.h>

#include "../kernel.h"

namespace cuda {

// The grid, once it is known that the hardware accepts it.
inline dim3 checked(dim3 grid, dim3 block)
{
    harness::check_launch(grid.x, grid.y, grid.z, block.x, block.y, block.z);
    return grid;
}

template <typename Pass>
using Registration = harness::Registration<Pass, float, double, int>;

constexpr char name[] = "cuda";

}  // namespace cuda

#define LAUNCH(kernel, grid, block) kernel<<<cuda::checked(grid, block), block>>>
