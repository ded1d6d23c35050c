// loses: memory
// hint: 1024 bytes
//
// The variant's swizzled tile of 16 x 16.

#include "../common/step.h"

constexpr int SMALL_TILE = 16;

template <typename T>
__global__ void transposeSwizzledTall(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[SMALL_TILE][SMALL_TILE];

    int x = blockIdx.x * SMALL_TILE + threadIdx.x;
    int y = blockIdx.y * SMALL_TILE + threadIdx.y;

    // Element (row r, column c) lies at tile[r][c ^ (r & ~1)].
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x ^ (threadIdx.y & ~1u)] = idata[size_t(y) * width + x];

    __syncthreads();

    x = blockIdx.y * SMALL_TILE + threadIdx.x;
    y = blockIdx.x * SMALL_TILE + threadIdx.y;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y ^ (threadIdx.x & ~1u)];
}

template <typename T>
void launchTile16Swizzled(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    LAUNCH(transposeSwizzledTall<T>, grid, block)(odata, idata, width, height);
}

KERNEL(transposeSwizzledTall, "-", transposes, launchTile16Swizzled)
