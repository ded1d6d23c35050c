// Step 3, variants: tiles of other shapes.
//
//   make step03 && ./step03 --all
//   ./step03 --kernel transposeRemap --block 2x2 --size 8x4 --print

#include "../common/step.h"

constexpr int SMALL_TILE = 16;

// One thread per element, and a tile as large as the block. A warp covers two rows of 16: its
// request is two pieces of 64 bytes, still whole sectors.
template <typename T>
__global__ void transposeTile16(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[SMALL_TILE][SMALL_TILE];

    int x = blockIdx.x * SMALL_TILE + threadIdx.x;
    int y = blockIdx.y * SMALL_TILE + threadIdx.y;

    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

    __syncthreads();

    x = blockIdx.y * SMALL_TILE + threadIdx.x;
    y = blockIdx.x * SMALL_TILE + threadIdx.y;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
void launchTile16(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    transposeTile16<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeTile16, "B6", transposes, launchTile16)

// A tile of any shape: its transpose is blockDim.y wide and blockDim.x high, which a block of
// blockDim.x x blockDim.y threads does not fit. So the threads are numbered anew, along the
// rows of the transposed tile, and neighbouring threads write neighbouring elements again.
template <typename T>
__global__ void transposeRemap(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[1024];  // blockDim.y rows of blockDim.x, at most

    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    if (x < width && y < height)
        tile[tid] = idata[size_t(y) * width + x];

    __syncthreads();

    int col = tid / blockDim.y;  // of the tile; a row of its transpose
    int row = tid % blockDim.y;
    x = blockIdx.y * blockDim.y + row;
    y = blockIdx.x * blockDim.x + col;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[row * blockDim.x + col];
}

template <typename T>
void launchRemap(T* odata, const T* idata, int width, int height, dim3 block)
{
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    transposeRemap<T><<<grid, block>>>(odata, idata, width, height);
}

BLOCK_KERNEL(transposeRemap, "R1", transposes, launchRemap, 32, 8)
