// Exercise 3: a tile that is not square.
//
//   make lab03
//
// The tile is 32 wide and 16 tall, its transpose 16 wide and 32 tall. A block of 32 x 8 threads
// fits the tile and not its transpose. Below, the tile is filled by rows and emptied by rows, so
// the store runs down columns of odata. Number the threads anew, so that a warp writes two
// whole rows of the transposed tile: 4 sectors for every load and store, 2048 bytes of floats.

#include "../common/step.h"

constexpr int TILE_WIDTH = 32;   // a block moves a tile of TILE_WIDTH x TILE_HEIGHT elements
constexpr int TILE_HEIGHT = 16;
constexpr int BLOCK_ROWS = 8;    // with TILE_WIDTH x BLOCK_ROWS threads: two elements per thread

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

    // TODO: which row and which column of the transposed tile does this thread write?
    for (int j = 0; j < TILE_HEIGHT; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(x) * height + (y + j)] = tile[threadIdx.y + j][threadIdx.x];
}

template <typename T>
void launchHalfTile(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_WIDTH - 1) / TILE_WIDTH, (height + TILE_HEIGHT - 1) / TILE_HEIGHT);
    dim3 block(TILE_WIDTH, BLOCK_ROWS);
    transposeHalfTile<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeHalfTile, "-", transposes, launchHalfTile)
