// Exercise 1: a copy whose warps begin where sectors begin.
//
//   make lab01
//
// Below is the copy of step 1. In a matrix of 1025 columns each row begins one element further
// into a sector than the row before it, and so does every warp: 128 bytes touch 5 sectors.
// (idata and odata themselves begin where a sector begins.) Let warps begin where sectors begin, up
// to 7 floats in front of the row. Then they touch 4 sectors, and the first and the last warp of a
// row touch fewer. In 64 such rows, loads may touch 8256 sectors, 129 per row, in at most 33
// requests per row. The same holds for stores.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void copyAligned(T* odata, const T* idata, int width, int height)
{
    // TODO: how many elements before row y + j does its first sector (32 bytes) begin?
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = idata[size_t(y + j) * width + x];
}

template <typename T>
void launchAligned(T* odata, const T* idata, int width, int height)
{
    // TODO: do these blocks still reach the end of every row?
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    copyAligned<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(copyAligned, "-", copies, launchAligned)
