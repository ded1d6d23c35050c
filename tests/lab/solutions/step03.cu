// Exercise 3, solved: the 256 threads are numbered anew, 16 to a row of the transposed tile.

#include "../common/step.h"

constexpr int TILE_WIDTH = 32;
constexpr int TILE_HEIGHT = 16;
constexpr int BLOCK_ROWS = 8;
constexpr int OUT_ROWS = TILE_WIDTH * BLOCK_ROWS / TILE_HEIGHT;  // rows of the transposed tile at a time

template <typename T>
__global__ void transposeHalfTile(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_HEIGHT][TILE_WIDTH];

    int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;

    for (int j = 0; j < TILE_HEIGHT; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    int tid = threadIdx.y * TILE_WIDTH + threadIdx.x;
    int col = tid % TILE_HEIGHT;
    int row = tid / TILE_HEIGHT;
    x = blockIdx.y * TILE_HEIGHT + col;
    y = blockIdx.x * TILE_WIDTH + row;

    for (int j = 0; j < TILE_WIDTH; j += OUT_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[col][row + j];
}

template <typename T>
void launchHalfTile(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_WIDTH - 1) / TILE_WIDTH, (height + TILE_HEIGHT - 1) / TILE_HEIGHT);
    dim3 block(TILE_WIDTH, BLOCK_ROWS);
    transposeHalfTile<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeHalfTile, "-", transposes, launchHalfTile)
