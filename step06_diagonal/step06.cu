// Step 6: walk the tiles along diagonals.
//
//   make step06 && ./step06
//
// Memory is divided into partitions. A GTX 280 chooses the partition by plain address bits.
// Blocks that run side by side in one row of tiles write down one column of odata there and
// queue at one partition, while the others are idle: partition camping. Here, blocks that
// start one after another take tiles along a diagonal, which spreads reads and writes alike.
// Cards since 2010 hash addresses over the partitions, and the diagonal no longer helps.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void transposeDiagonal(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    // The block's tile is (bx, by): blockIdx.x counts along a diagonal, blockIdx.y chooses the diagonal.
    int bx, by;
    if (width == height) {
        by = blockIdx.x;
        bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    } else {
        unsigned bid = blockIdx.x + gridDim.x * blockIdx.y;
        by = bid % gridDim.y;
        bx = (bid / gridDim.y + by) % gridDim.x;
    }

    int x = bx * TILE_DIM + threadIdx.x;
    int y = by * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = by * TILE_DIM + threadIdx.x;
    y = bx * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchDiagonal(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeDiagonal<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeDiagonal, "W8", transposes, launchDiagonal)
