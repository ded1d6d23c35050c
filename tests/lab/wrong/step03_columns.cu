// loses: loads, memory
// hint: sectors per load
//
// By columns and without a tile.

#include "../common/step.h"

template <typename T>
__global__ void transposeHalfTile(T* odata, const T* idata, int width, int height)
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
    LAUNCH(transposeHalfTile<T>, grid, block)(odata, idata, width, height);
}

KERNEL(transposeHalfTile, "-", transposes, launchCol)
