#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

template <typename T>
__global__ void transposeSwizzle(T* odata, const T* idata, int width, int height)
{
}

template <typename T>
void launchSwizzle(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transposeSwizzle<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(transposeSwizzle, "-", transposes, launchSwizzle)
