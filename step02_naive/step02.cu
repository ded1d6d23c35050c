// Step 2: the naive transpose.
//
//   make step02 && ./step02
//
// The copy of step 1 with the output's row and column exchanged. A warp still reads 32
// neighbours of one row of idata, but it writes them down one column of odata. They are
// a whole row apart, so its store touches 32 sectors instead of 4.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void transposeNaive(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    // Column x of idata is row x of odata.
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(x) * height + (y + j)] = idata[size_t(y + j) * width + x];
}

template <typename T>
void launchNaive(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeNaive<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeNaive, "W3", transposes, launchNaive)
