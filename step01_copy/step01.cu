// Step 1: copy. The bandwidth that the transposes are compared with.
//
//   make step01 && ./step01
//
// A copy moves as many bytes as a transpose, so it shows what bandwidth to hope for. The
// first kernel copies straight from global to global memory. The second goes through a tile
// in shared memory, with a barrier that no copy needs. On a GTX 280 that costs time. On an
// H200 the second kernel is faster, because a thread has four loads in flight before it waits
// at the barrier. In the first kernel it has one load in flight at a time.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void copy(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    // The offset is a size_t: past 2^31 elements an int would overflow.
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = idata[size_t(y + j) * width + x];
}

template <typename T>
void launchCopy(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    copy<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(copy, "W1", copies, launchCopy)

template <typename T>
__global__ void copySharedMem(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Each thread reads back only what it wrote itself. The barrier is here to show its cost.
    __syncthreads();

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x];
}

template <typename T>
void launchCopySharedMem(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    copySharedMem<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(copySharedMem, "W2", copies, launchCopySharedMem)
