// Step 6, variants: other orders of the tiles, and the same order on other kernels.
//
//   make step06 && ./step06 --all
//
// ./step06 --all --machine gtx280 --size 2048 shows the partitions' traffic of each on a GTX 280.

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;
constexpr int SMALL_TILE = 16;
constexpr int PITCH_BYTES = 256;  // what a partition of a GTX 280 takes in turn: 64 floats

// Step 4 with the roles of blockIdx.x and blockIdx.y exchanged. Blocks that run together write
// along rows and read down a column. On a GTX 280 the camping moves to the reads.
template <typename T>
__global__ void transposeSwappedRoles(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.y * TILE_DIM + threadIdx.x;
    int y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.x * TILE_DIM + threadIdx.x;
    y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchSwappedRoles(T* odata, const T* idata, int width, int height)
{
    dim3 grid((height + TILE_DIM - 1) / TILE_DIM, (width + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeSwappedRoles<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeSwappedRoles, "W9", transposes, launchSwappedRoles)

// Step 4 into rows that are one piece of 256 bytes longer than necessary. A column of odata then
// passes through all partitions. This ends the camping and costs memory.
template <typename T>
__global__ void transposePaddedPitch(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    size_t pitch = height + PITCH_BYTES / sizeof(T);
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[(y + j) * pitch + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchPaddedPitch(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposePaddedPitch<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposePaddedPitch, "W10", transposes_with_padded_rows(PITCH_BYTES), launchPaddedPitch)

// The lesson without the padding of step 4. Once the camping is gone, bank conflicts matter.
template <typename T>
__global__ void transposeDiagonalUnpadded(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    unsigned bid = blockIdx.x + gridDim.x * blockIdx.y;
    int by = bid % gridDim.y;
    int bx = (bid / gridDim.y + by) % gridDim.x;

    int x = bx * TILE_DIM + threadIdx.x;
    int y = by * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = by * TILE_DIM + threadIdx.x;
    y = bx * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchDiagonalUnpadded(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeDiagonalUnpadded<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeDiagonalUnpadded, "W11", transposes, launchDiagonalUnpadded)

// The diagonal order with the small tile of steps 3 and 4.
template <typename T>
__global__ void transposeDiagonal16(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[SMALL_TILE][SMALL_TILE + 1];

    unsigned bid = blockIdx.x + gridDim.x * blockIdx.y;
    int by = bid % gridDim.y;
    int bx = (bid / gridDim.y + by) % gridDim.x;

    int x = bx * SMALL_TILE + threadIdx.x;
    int y = by * SMALL_TILE + threadIdx.y;

    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

    __syncthreads();

    x = by * SMALL_TILE + threadIdx.x;
    y = bx * SMALL_TILE + threadIdx.y;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
void launchDiagonal16(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    transposeDiagonal16<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeDiagonal16, "B8", transposes, launchDiagonal16)

// The naive kernels of step 2 in diagonal order. One side of each stays strided.
template <typename T>
__global__ void transposeRowDiagonal(T* odata, const T* idata, int width, int height)
{
    unsigned bid = blockIdx.x + gridDim.x * blockIdx.y;
    int by = bid % gridDim.y;
    int bx = (bid / gridDim.y + by) % gridDim.x;

    int x = bx * blockDim.x + threadIdx.x;
    int y = by * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchRowDiagonal(T* odata, const T* idata, int width, int height, dim3 block)
{
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    transposeRowDiagonal<T><<<grid, block>>>(odata, idata, width, height);
}

BLOCK_KERNEL(transposeRowDiagonal, "F7", transposes, launchRowDiagonal, 32, 32)

template <typename T>
__global__ void transposeColDiagonal(T* odata, const T* idata, int width, int height)
{
    unsigned bid = blockIdx.x + gridDim.x * blockIdx.y;
    int by = bid % gridDim.y;
    int bx = (bid / gridDim.y + by) % gridDim.x;

    int x = by * blockDim.y + threadIdx.y;
    int y = bx * blockDim.x + threadIdx.x;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchColDiagonal(T* odata, const T* idata, int width, int height, dim3 block)
{
    dim3 grid((height + block.x - 1) / block.x, (width + block.y - 1) / block.y);
    transposeColDiagonal<T><<<grid, block>>>(odata, idata, width, height);
}

BLOCK_KERNEL(transposeColDiagonal, "F8", transposes, launchColDiagonal, 32, 32)
