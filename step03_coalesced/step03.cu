// Step 3: coalesce both sides through shared memory.
//
//   make step03 && ./step03
//
// The block reads its tile row by row into shared memory and writes it row by row to the
// transposed place, so that a warp loads 32 neighbours and stores 32 neighbours. In
// between the tile lies in shared memory, where it is filled by rows and emptied by columns.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void transposeCoalesced(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

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
void launchCoalesced(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeCoalesced<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeCoalesced, "W4", transposes, launchCoalesced)
