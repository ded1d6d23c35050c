// Exercise 4: no bank conflicts, and no padding.
//
//   make lab04
//
// The tile is 16 wide and 32 tall. A warp fills two of its rows and empties one of its columns,
// whose 32 elements lie in two banks. Element (r, c) may lie anywhere in row r, if the load looks
// for it in the same place. Choose the place so that neither filling nor emptying has conflicts.
// That is called swizzling (variants.cu has it for square tiles). Every request of floats should
// take 1 wavefront, and the tile must keep its size of 2048 bytes.

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
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];  // TODO: another place in the row

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
            odata[size_t(y + j) * height + x] = tile[col][row + j];  // TODO: the same place
}

template <typename T>
void launchSwizzledTall(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_WIDTH - 1) / TILE_WIDTH, (height + TILE_HEIGHT - 1) / TILE_HEIGHT);
    dim3 block(TILE_WIDTH, IN_ROWS);
    transposeSwizzledTall<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeSwizzledTall, "-", transposes, launchSwizzledTall)
