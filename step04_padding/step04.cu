// Step 4: pad the tile.
//
//   make step04 && ./step04
//
// Shared memory has 32 banks, which hold its words in turn. In one wavefront each bank
// delivers one word. In a tile 32 words wide a column lies in a single bank, so a warp
// reads it in 32 wavefronts. One unused word at the end of each row moves every row on by
// one bank. A column then lies in all 32 banks, and a warp reads it in 1 wavefront.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void transposeNoBankConflicts(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];  // the + 1 is the whole step

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchNoBankConflicts(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeNoBankConflicts<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeNoBankConflicts, "W5", transposes, launchNoBankConflicts)
