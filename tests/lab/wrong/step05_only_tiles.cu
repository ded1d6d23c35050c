// loses: shapes, clean
// hint: uninitialized load
//
// Nobody asks whether the mirror image is inside the matrix.

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

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) {
            odata[size_t(y + j) * width + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
        }
}

template <typename T>
void launchTurnTiles(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    LAUNCH(turnTiles<T>, grid, block)(odata, idata, width, height);
}

KERNEL(turnTiles, "-", transposes_each_tile(64), launchTurnTiles)
