// Exercise 5: the fine-grained half, in tiles of 64 x 64.
//
//   make lab05
//
// Turn every tile in its place: element (x, y) of a tile goes to (y, x) of the same tile. If (y, x) lies
// outside the matrix, the element stays where it is. The kernel below only copies. Turn whole tiles and those that
// the edge cuts off, with 4 sectors for every load and store of floats and without bank conflicts. Do without
// padding: the tile must have 16384 bytes, and 64 x 65 floats would have 16640.

#include "../common/step.h"

constexpr int TILE_DIM = 64;   // a block turns one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 4;  // with TILE_DIM x BLOCK_ROWS threads: 16 elements per thread

template <typename T>
__global__ void turnTiles(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    // TODO: which element of the tile belongs here? Is it inside the matrix?
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x];
}

template <typename T>
void launchTurnTiles(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    turnTiles<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(turnTiles, "-", transposes_each_tile(64), launchTurnTiles)
