// Exercise 2, solved: loads are the better side to be scattered. A warp is 8 rows of idata high,
// which are a whole sector of a row of odata, and 4 columns wide.

#include "../common/step.h"

constexpr int BLOCK_X = 8;
constexpr int BLOCK_Y = 32;

template <typename T>
__global__ void transposePatches(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.y * BLOCK_Y + threadIdx.y;
    int y = blockIdx.x * BLOCK_X + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchPatches(T* odata, const T* idata, int width, int height)
{
    dim3 grid((height + BLOCK_X - 1) / BLOCK_X, (width + BLOCK_Y - 1) / BLOCK_Y);
    dim3 block(BLOCK_X, BLOCK_Y);
    transposePatches<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposePatches, "-", transposes, launchPatches)
