// loses: stores
// hint: sectors per store
//
// The patch lies the other way round: it is the stores that get half sectors.

#include "../common/step.h"

constexpr int BLOCK_X = 8;
constexpr int BLOCK_Y = 32;

template <typename T>
__global__ void transposePatches(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchPatches(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    dim3 block(BLOCK_X, BLOCK_Y);
    LAUNCH(transposePatches<T>, grid, block)(odata, idata, width, height);
}

KERNEL(transposePatches, "-", transposes, launchPatches)
