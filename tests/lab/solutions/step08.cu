// Exercise 8, solved: a padded tile of 64 x 64 elements, all loads of a thread before its first store, and blocks that
// go down the columns of tiles.

#include "../common/step.h"

constexpr int TILE_DIM = 64;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: eight elements per thread

template <typename T>
__global__ void transposeFast(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    // Blocks that run together take tiles below each other. Their rows of odata then join.
    int x = blockIdx.y * TILE_DIM + threadIdx.x;
    int y = blockIdx.x * TILE_DIM + threadIdx.y;

    // A store to the tile waits for its element, a load into a register does not.
    T in[TILE_DIM / BLOCK_ROWS];
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            in[j / BLOCK_ROWS] = idata[size_t(y + j) * width + x];

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[j / BLOCK_ROWS];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = blockIdx.x * TILE_DIM + threadIdx.x;
    y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchFast(T* odata, const T* idata, int width, int height)
{
    dim3 grid((height + TILE_DIM - 1) / TILE_DIM, (width + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeFast<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeFast, "-", transposes, launchFast)
