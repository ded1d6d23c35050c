// Exercise 4, solved: element (r, c) lies at c ^ (r / 2). Two rows that are filled together, r even
// and r + 1, fill one half of the banks each, in any order; the 16 even rows of a column are in 16
// different banks of the one half, and the odd rows in those of the other.

#include "../common/step.h"

constexpr int TILE_WIDTH = 16;   // a block moves a tile of TILE_WIDTH x TILE_HEIGHT elements
constexpr int TILE_HEIGHT = 32;
constexpr int IN_ROWS = 16;      // with 256 threads: 16 of the tile's rows at a time,
constexpr int OUT_ROWS = 8;      // and 8 rows of the transposed tile, which is 32 wide

template <typename T>
__global__ void transposeSwizzledTall(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_HEIGHT][TILE_WIDTH];

    int x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;

    for (int j = 0; j < TILE_HEIGHT; j += IN_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j) / 2] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    // The same threads in rows of 32.
    int tid = threadIdx.y * TILE_WIDTH + threadIdx.x;
    int col = tid % TILE_HEIGHT;
    int row = tid / TILE_HEIGHT;
    x = blockIdx.y * TILE_HEIGHT + col;
    y = blockIdx.x * TILE_WIDTH + row;

    for (int j = 0; j < TILE_WIDTH; j += OUT_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[col][(row + j) ^ col / 2];
}

template <typename T>
void launchSwizzledTall(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_WIDTH - 1) / TILE_WIDTH, (height + TILE_HEIGHT - 1) / TILE_HEIGHT);
    dim3 block(TILE_WIDTH, IN_ROWS);
    transposeSwizzledTall<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeSwizzledTall, "-", transposes, launchSwizzledTall)
