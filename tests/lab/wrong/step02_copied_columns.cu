// loses: loads
// hint: bytes apart
//
// The variant by columns: one row of 32 per warp, on the other side.

#include "../common/step.h"

template <typename T>
__global__ void transposePatches(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchCol(T* odata, const T* idata, int width, int height, dim3 block = dim3(32, 32))
{
    dim3 grid((height + block.x - 1) / block.x, (width + block.y - 1) / block.y);
    LAUNCH(transposePatches<T>, grid, block)(odata, idata, width, height);
}

KERNEL(transposePatches, "-", transposes, launchCol)
