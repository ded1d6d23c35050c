// Kernels with the faults that published transposes were shipped with, and their corrected twins:
// the simulator must name the lines of the one and find nothing in the other.
// tests/test_diagnostics.py runs them and looks for the lines marked below.

#include "common/step.h"

constexpr int TILE_DIM = 16;

// A fixed grid of blocks that loop over the tiles: without the second barrier a fast warp
// refills the tile that a slow one still reads.
template <typename T, bool BARRIER>
__global__ void loopingBlocks(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    for (int top = blockIdx.y * TILE_DIM; top < height; top += gridDim.y * TILE_DIM)
        for (int left = blockIdx.x * TILE_DIM; left < width; left += gridDim.x * TILE_DIM) {
            int x = left + threadIdx.x, y = top + threadIdx.y;
            if (x < width && y < height)
                tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];  // loop: write
            __syncthreads();
            x = top + threadIdx.x;
            y = left + threadIdx.y;
            if (x < height && y < width)
                odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];  // loop: read
            if (BARRIER) __syncthreads();
        }
}

// The whole transpose repeated inside one launch, to time it: the same hole.
template <typename T, bool BARRIER>
__global__ void repeatedInside(T* odata, const T* idata, int width, int height, int passes)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
    int ox = blockIdx.y * TILE_DIM + threadIdx.x, oy = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int pass = 0; pass < passes; ++pass) {
        if (x < width && y < height)
            tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];  // repeat: write
        __syncthreads();
        if (ox < height && oy < width)
            odata[size_t(oy) * height + ox] = tile[threadIdx.x][threadIdx.y];  // repeat: read
        if (BARRIER) __syncthreads();
    }
}

// Four elements per thread, and a bounds test for the first of them only.
template <typename T, bool ALL>
__global__ void unrolled(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * blockDim.x * 4 + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        for (int k = 0; k < 4; ++k) {
            size_t column = x + k * blockDim.x;
            if (ALL && column >= size_t(width)) break;
            odata[column * height + y] = idata[size_t(y) * width + column];  // unrolled: access
        }
}

// Diagonal order without any bounds test.
template <typename T, bool TESTED>
__global__ void diagonal(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    int x = bx * TILE_DIM + threadIdx.x, y = by * TILE_DIM + threadIdx.y;
    if (!TESTED || (x < width && y < height))
        tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];  // diagonal: load
    __syncthreads();
    x = by * TILE_DIM + threadIdx.x;
    y = bx * TILE_DIM + threadIdx.y;
    if (!TESTED || (x < height && y < width))
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];  // diagonal: store
}

template <bool RIGHT, typename T>
void launchLooping(T* odata, const T* idata, int width, int height)
{
    auto kernel = loopingBlocks<T, RIGHT>;
    LAUNCH(kernel, dim3(2, 2), dim3(TILE_DIM, TILE_DIM))(odata, idata, width, height);
}

template <bool RIGHT, typename T>
void launchRepeated(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    auto kernel = repeatedInside<T, RIGHT>;
    LAUNCH(kernel, grid, dim3(TILE_DIM, TILE_DIM))(odata, idata, width, height, 3);
}

template <bool RIGHT, typename T>
void launchUnrolled(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + 4 * TILE_DIM - 1) / (4 * TILE_DIM), (height + TILE_DIM - 1) / TILE_DIM);
    auto kernel = unrolled<T, RIGHT>;
    LAUNCH(kernel, grid, dim3(TILE_DIM, TILE_DIM))(odata, idata, width, height);
}

template <bool RIGHT, typename T>
void launchDiagonal16(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    auto kernel = diagonal<T, RIGHT>;
    LAUNCH(kernel, grid, dim3(TILE_DIM, TILE_DIM))(odata, idata, width, height);
}

// What initcheck and synccheck look for.
template <typename T>
__global__ void readsOutput(T* odata, const T* idata, int width, int height)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < size_t(width) * height) {
        T before = odata[i];  // output: read
        odata[i] = idata[i];
        if (before == idata[i]) odata[i] = before;
    }
}

template <typename T>
void launchReadsOutput(T* odata, const T* idata, int width, int height)
{
    LAUNCH(readsOutput<T>, dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128))(odata, idata, width, height);
}

template <typename T>
__global__ void leavesEarly(T* odata, const T* idata, int width, int height)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= size_t(width) * height) return;
    __syncthreads();  // early: barrier
    odata[i] = idata[i];
}

template <typename T>
void launchLeavesEarly(T* odata, const T* idata, int width, int height)
{
    LAUNCH(leavesEarly<T>, dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128))(odata, idata, width, height);
}

// A load of a whole element that begins two bytes into one.
template <typename T>
__global__ void misaligned(T* odata, const T* idata, int width, int height)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i + 1 < size_t(width) * height) {
        const char* between = reinterpret_cast<const char*>(idata + i) + 2;
        odata[i] = *reinterpret_cast<const T*>(between);  // misaligned: load
    }
}

template <typename T>
void launchMisaligned(T* odata, const T* idata, int width, int height)
{
    LAUNCH(misaligned<T>, dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128))(odata, idata, width, height);
}

// The last thread stores behind the end of the tile.
template <typename T>
__global__ void behindTheTile(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[128];
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    T* next = tile + threadIdx.x + 1;
    if (i < size_t(width) * height) {
        *next = idata[i];  // tile: store
        odata[i] = *next;
    }
}

template <typename T>
void launchBehindTheTile(T* odata, const T* idata, int width, int height)
{
    LAUNCH(behindTheTile<T>, dim3(unsigned((size_t(width) * height + 127) / 128)), dim3(128))(odata, idata, width, height);
}

KERNEL(misaligned_faulty, "-", copies, launchMisaligned)
KERNEL(behindTheTile_faulty, "-", copies, launchBehindTheTile)
KERNEL(loopingBlocks_faulty, "E2", transposes, launchLooping<false>)
KERNEL(loopingBlocks_right, "E2", transposes, launchLooping<true>)
KERNEL(repeatedInside_faulty, "E3", transposes, launchRepeated<false>)
KERNEL(repeatedInside_right, "E3", transposes, launchRepeated<true>)
KERNEL(unrolled_faulty, "E6", transposes, launchUnrolled<false>)
KERNEL(unrolled_right, "E6", transposes, launchUnrolled<true>)
KERNEL(diagonal_faulty, "E7", transposes, launchDiagonal16<false>)
KERNEL(diagonal_right, "E7", transposes, launchDiagonal16<true>)
KERNEL(readsOutput_faulty, "-", copies, launchReadsOutput)
KERNEL(leavesEarly_faulty, "-", copies, launchLeavesEarly)
