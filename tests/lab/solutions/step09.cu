// Exercise 9, solved: a tile carries whole rows to one GPU, and in each phase every GPU receives from one.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves TILE_DIM x TILE_DIM elements to one GPU
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void transposeExchange(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    // The next GPU first, and this one last.
    int peer = (me + 1 + blockIdx.z) % gpus;

    int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);          // of idata, here
    int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);  // of odata, there

    int left = columns + blockIdx.x * TILE_DIM;
    int top = rows + blockIdx.y * TILE_DIM;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    // Row r of the tile is permuted by XOR with r, so that a column has one element in each bank.
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < columns_end && y + j < rows_end)
            tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = idata[size_t(y + j - rows) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = top + threadIdx.x;
    y = left + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < rows_end && y + j < columns_end)
            odata.part[peer][size_t(y + j - columns) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

// Called for each GPU. Blocks begin in the order of x, then y, then z.
template <typename T>
void launchExchange(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    int columns = (width + gpus - 1) / gpus, rows = (height + gpus - 1) / gpus;  // of the GPU that has most
    dim3 grid((columns + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM, gpus);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeExchange<T><<<grid, block>>>(odata, idata, width, height, me, gpus);
}

KERNEL(transposeExchange, "-", transposes, launchExchange)
