// loses: memory
// hint: 1024 bytes
//
// The variant's tile of 16 x 16: half of what was asked for.

#include "../common/step.h"

constexpr int SMALL_TILE = 16;

template <typename T>
__global__ void transposeHalfTile(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[SMALL_TILE][SMALL_TILE];

    int x = blockIdx.x * SMALL_TILE + threadIdx.x;
    int y = blockIdx.y * SMALL_TILE + threadIdx.y;

    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

    __syncthreads();

    x = blockIdx.y * SMALL_TILE + threadIdx.x;
    y = blockIdx.x * SMALL_TILE + threadIdx.y;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
void launchTile16(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    LAUNCH(transposeHalfTile<T>, grid, block)(odata, idata, width, height);
}

KERNEL(transposeHalfTile, "-", transposes, launchTile16)
