// Exercise 6: a fixed grid that walks the tiles along their diagonals.
//
//   make lab06
//
// The launch has 32 x 32 blocks for any matrix, and each takes tile after tile. So a matrix may have
// more tiles than CUDA allows blocks. Below, the blocks take the tiles row by row, and a thread that is
// ahead fills the tile again while others still read it. Mend this race, and let the blocks follow the
// diagonals of the tiles. At 1024 x 1024 floats and at larger matrices, the busiest memory partition of
// a GTX 280 may get at most 1.25 times the mean traffic.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves tiles of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread
constexpr int GRID_DIM = 32;   // and there are GRID_DIM x GRID_DIM blocks

template <typename T>
__global__ void transposeDiagonalLoop(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int wide = (width + TILE_DIM - 1) / TILE_DIM;   // tiles in a row of them
    int high = (height + TILE_DIM - 1) / TILE_DIM;  // and in a column

    for (int i = blockIdx.y * gridDim.x + blockIdx.x; i < wide * high; i += gridDim.x * gridDim.y) {
        // TODO: the i-th tile along the diagonals. Take care of matrices that are not square.
        int bx = i % wide;
        int by = i / wide;

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

        // TODO: what must be true before the next turn fills the tile?
    }
}

template <typename T>
void launchDiagonalLoop(T* odata, const T* idata, int width, int height)
{
    dim3 grid(GRID_DIM, GRID_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeDiagonalLoop<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeDiagonalLoop, "-", transposes, launchDiagonalLoop)
