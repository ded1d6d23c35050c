#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

template <typename T>
__global__ void transposeSwizzle(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

template <typename T>
void launchSwizzle(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transposeSwizzle<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(transposeSwizzle, "-", transposes, launchSwizzle)
