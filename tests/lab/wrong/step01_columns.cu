// loses: loads, stores
// hint: bytes apart
//
// A warp goes down a column: each of its lanes is in a sector of its own.

#include "../common/step.h"

template <typename T>
__global__ void copyAligned(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(y) * width + x] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCopyCol(T* odata, const T* idata, int width, int height, dim3 block = dim3(32, 32))
{
    dim3 grid((height + block.x - 1) / block.x, (width + block.y - 1) / block.y);
    LAUNCH(copyAligned<T>, grid, block)(odata, idata, width, height);
}

KERNEL(copyAligned, "-", copies, launchCopyCol)
