// loses: squares, shapes, double, clean, sectors, conflicts, memory
// hint: as it was handed out
//
// The other half: tiles that are moved.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void turnTiles(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    // (ox, oy + j) is where the thread writes in odata, height wide: the transposed tile.
    int ox = blockIdx.y * TILE_DIM + threadIdx.x;
    int oy = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (ox < height && oy + j < width) {
            if (x < width && y + j < height)
                odata[size_t(oy + j) * height + ox] = tile[threadIdx.y + j][threadIdx.x];
            else
                odata[size_t(oy + j) * height + ox] = tile[threadIdx.x][threadIdx.y + j];
        }
}

template <typename T>
void launchCoarseGrained(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    LAUNCH(turnTiles<T>, grid, block)(odata, idata, width, height);
}

KERNEL(turnTiles, "-", moves_each_tile(TILE_DIM), launchCoarseGrained)
