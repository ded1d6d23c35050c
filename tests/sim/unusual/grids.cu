// Blocks and grids of unusual shape, and other ways to go through the matrix.

#include "unusual.h"

// Blocks of any number of threads that exchange elements with a barrier.
TRANSPOSING(blocksOfAnySize)
{
    __shared__ T tile[1024];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * blockDim.x;
    const int t = threadIdx.x, mirror = blockDim.x - 1 - t;
    if (first + t < n) tile[mirror] = idata[first + t];
    __syncthreads();
    if (first + mirror < n) odata[first + mirror] = tile[t];
}

LAUNCHER(launchBlocksOf33)
{
    blocksOfAnySize<T><<<pieces(size_t(width) * height, 33), 33>>>(odata, idata, width, height);
}

KERNEL(blocksOf33, "-", copies, launchBlocksOf33)

// 13 x 7 threads: no row of them is a warp.
TRANSPOSING(blocksOf13x7)
{
    __shared__ T tile[7][13];
    const int left = blockIdx.x * 13, top = blockIdx.y * 7, t = threadIdx.y * 13 + threadIdx.x;
    if (left + int(threadIdx.x) < width && top + int(threadIdx.y) < height)
        tile[threadIdx.y][threadIdx.x] = idata[size_t(top + threadIdx.y) * width + left + threadIdx.x];
    __syncthreads();
    const int r = t % 7, c = t / 7;
    if (left + c < width && top + r < height) odata[size_t(left + c) * height + top + r] = tile[r][c];
}

LAUNCHER(launchBlocksOf13x7)
{
    blocksOf13x7<T><<<dim3(pieces(width, 13), pieces(height, 7)), dim3(13, 7)>>>(odata, idata, width, height);
}

KERNEL(blocksOf13x7, "-", transposes, launchBlocksOf13x7)

// Pointers far past the end, and in front of the beginning, that are never followed.
TRANSPOSING(pointersPastTheEnd)
{
    const T* const end = idata + size_t(width) * height;
    const T* from = idata + (size_t(blockIdx.x) * 4 * blockDim.x + threadIdx.x);
    T* before = odata - blockDim.x + (from - idata);
    for (int k = 0; k < 4; ++k, from += blockDim.x) {
        before += blockDim.x;
        if (from < end) *before = *from;
    }
}

LAUNCHER(launchPointersPastTheEnd)
{
    pointersPastTheEnd<T><<<pieces(size_t(width) * height, 4 * 64), 64>>>(odata, idata, width, height);
}

KERNEL(pointersPastTheEnd, "-", copies, launchPointersPastTheEnd)

// Unsigned numbers that count down past zero.
TRANSPOSING(countsDown)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    const unsigned left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, c = TILE_DIM - 1 - threadIdx.x;
    const unsigned columns = width, rows = height;
    for (unsigned r = TILE_DIM - 1 - threadIdx.y; r < TILE_DIM; r -= BLOCK_ROWS)
        if (left + c < columns && top + r < rows) tile[r][c] = idata[size_t(top + r) * columns + left + c];
    __syncthreads();
    for (unsigned k = TILE_DIM / BLOCK_ROWS; k-- > 0;) {
        const unsigned r = k * BLOCK_ROWS + threadIdx.y;
        if (top + c < rows && left + r < columns) odata[size_t(left + r) * rows + top + c] = tile[c][r];
    }
}

LAUNCHER(launchCountsDown)
{
    countsDown<T><<<dim3(pieces(width, TILE_DIM), pieces(height, TILE_DIM)), dim3(TILE_DIM, BLOCK_ROWS)>>>(
        odata, idata, width, height);
}

KERNEL(countsDown, "-", transposes, launchCountsDown)

// The second launch works on what the first one has stored.
template <typename T>
__global__ void reversesEachPiece(T* odata, const T* from, int width, int height)
{
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * blockDim.x;
    const int count = n - first < blockDim.x ? int(n - first) : int(blockDim.x), t = threadIdx.x;
    const T element = t < count ? from[first + t] : T(0);
    __syncthreads();
    if (t < count) odata[first + count - 1 - t] = element;
}

LAUNCHER(launchOneAfterTheOther)
{
    const unsigned blocks = pieces(size_t(width) * height, 96);
    reversesEachPiece<T><<<blocks, 96>>>(odata, idata, width, height);
    reversesEachPiece<T><<<blocks, 96>>>(odata, odata, width, height);
}

KERNEL(oneAfterTheOther, "-", copies, launchOneAfterTheOther)
