// Exercise 1, solved: each row's first warp begins a little in front of the row, at a boundary
// of sectors, with its first lanes idle.

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

template <typename T> constexpr int SECTOR = 32 / sizeof(T);  // elements of a sector

template <typename T>
__global__ void copyAligned(T* odata, const T* idata, int width, int height)
{
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        int late = size_t(y + j) * width % SECTOR<T>;
        int x = int(blockIdx.x * TILE_DIM + threadIdx.x) - late;
        if (x >= 0 && x < width && y + j < height)
            odata[size_t(y + j) * width + x] = idata[size_t(y + j) * width + x];
    }
}

template <typename T>
void launchAligned(T* odata, const T* idata, int width, int height)
{
    // A row that begins late ends as much later.
    dim3 grid((width + SECTOR<T> - 1 + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    copyAligned<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(copyAligned, "-", copies, launchAligned)
