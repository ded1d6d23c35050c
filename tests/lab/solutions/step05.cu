// Exercise 5, solved: the fine-grained half with element (r, c) of the tile at c ^ r.

#include "../common/step.h"

constexpr int TILE_DIM = 64;
constexpr int BLOCK_ROWS = 4;

template <typename T>
__global__ void turnTiles(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    // (mx + j, my) is the mirror image of (x, y + j) in the tile's diagonal.
    int mx = blockIdx.x * TILE_DIM + threadIdx.y;
    int my = blockIdx.y * TILE_DIM + threadIdx.x;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) {
            if (mx + j < width && my < height)
                odata[size_t(y + j) * width + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
            else
                odata[size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)];
        }
}

template <typename T>
void launchTurnTiles(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    turnTiles<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(turnTiles, "-", transposes_each_tile(64), launchTurnTiles)
