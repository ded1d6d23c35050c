// Kernels in parts: helpers, lambdas, functors, recursion, templates, macros, arguments of all sorts.

#include "unusual.h"

// A helper that declares a shared array and has a barrier. Three kernels use it.
template <typename T>
__device__ T ofTheMirror(T element)
{
    __shared__ T exchange[THREADS];
    exchange[threadIdx.x] = element;
    __syncthreads();
    return exchange[blockDim.x - 1 - threadIdx.x];
}

// Twice in one kernel. The barrier between the calls keeps the second from storing too early.
TRANSPOSING(helperTwice)
{
    __shared__ T own[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    own[threadIdx.x] = i < n ? idata[i] : T(0);
    const T once = ofTheMirror(own[threadIdx.x]);
    __syncthreads();
    const T twice = ofTheMirror(once);
    if (i < n) odata[i] = twice;
}

KERNEL(helperTwice, "-", copies, launchAlong<helperTwice<T>>)

// A helper that fills a tile it is given, by reference, and one that empties it.
template <typename T, int ROWS, int COLUMNS>
__device__ __forceinline__ void fill(T (&tile)[ROWS][COLUMNS], const T* __restrict__ from, int left, int top, int width,
                                     int height)
{
    for (int r = threadIdx.y; r < TILE_DIM; r += blockDim.y)
        if (left + int(threadIdx.x) < width && top + r < height)
            tile[r][threadIdx.x] = from[size_t(top + r) * width + left + threadIdx.x];
}

template <typename T, int ROWS, int COLUMNS>
__device__ __noinline__ void empty(const T (&tile)[ROWS][COLUMNS], T* __restrict__ to, int left, int top, int width,
                                   int height)
{
    for (int r = threadIdx.y; r < TILE_DIM; r += blockDim.y)
        if (top + int(threadIdx.x) < height && left + r < width)
            to[size_t(left + r) * height + top + threadIdx.x] = tile[threadIdx.x][r];
}

TRANSPOSING(helpersByReference)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    fill(tile, idata, blockIdx.x * TILE_DIM, blockIdx.y * TILE_DIM, width, height);
    __syncthreads();
    empty(tile, odata, blockIdx.x * TILE_DIM, blockIdx.y * TILE_DIM, width, height);
}

KERNEL(helpersByReference, "-", transposes, launchTiles<helpersByReference<T>>)

// Lambdas, one with a barrier in it.
TRANSPOSING(lambdaWithBarrier)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    const auto for_each_row = [&](auto&& work) {
        for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS) work(r);
        __syncthreads();
    };
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, c = threadIdx.x;
    for_each_row([&](int r) {
        if (left + c < width && top + r < height) tile[r][c] = idata[size_t(top + r) * width + left + c];
    });
    for_each_row([=](int r) {
        if (top + c < height && left + r < width) odata[size_t(left + r) * height + top + c] = tile[c][r];
    });
}

KERNEL(lambdaWithBarrier, "-", transposes, launchTiles<lambdaWithBarrier<T>>)

// A piece is halved, along its longer side, until it is one element.
template <typename T>
__device__ void transposeHalves(T* odata, const T* idata, int width, int height, int left, int top, int columns,
                                int rows)
{
    if (columns <= 0 || rows <= 0) return;
    if (columns == 1 && rows == 1) {
        odata[size_t(left) * height + top] = idata[size_t(top) * width + left];
    } else if (columns >= rows) {
        transposeHalves(odata, idata, width, height, left, top, columns / 2, rows);
        transposeHalves(odata, idata, width, height, left + columns / 2, top, columns - columns / 2, rows);
    } else {
        transposeHalves(odata, idata, width, height, left, top, columns, rows / 2);
        transposeHalves(odata, idata, width, height, left, top + rows / 2, columns, rows - rows / 2);
    }
}

TRANSPOSING(recursionByHalves)
{
    constexpr int SIDE = 6;
    const int left = (blockIdx.x * blockDim.x + threadIdx.x) * SIDE,
              top = (blockIdx.y * blockDim.y + threadIdx.y) * SIDE;
    transposeHalves(odata, idata, width, height, left, top, min(SIDE, width - left), min(SIDE, height - top));
}

LAUNCHER(launchRecursionByHalves)
{
    recursionByHalves<T>
        <<<dim3(pieces(width, 8 * 6), pieces(height, 8 * 6)), dim3(8, 8)>>>(odata, idata, width, height);
}

KERNEL(recursionByHalves, "-", transposes, launchRecursionByHalves)

// A pointer to a function. Which one depends on the block.
template <typename T>
__device__ T readsForward(const T* values, int i, int) { return values[i]; }

template <typename T>
__device__ T readsBackward(const T* values, int i, int count) { return values[count - 1 - i]; }

TRANSPOSING(pointerToFunction)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const bool backward = blockIdx.x % 2;
    T (*const reads)(const T*, int, int) = backward ? readsBackward<T> : readsForward<T>;
    const int t = threadIdx.x, source = backward ? THREADS - 1 - t : t;

    if (first + source < n) tile[t] = idata[first + source];
    __syncthreads();
    if (first + t < n) odata[first + t] = reads(tile, t, THREADS);
}

KERNEL(pointerToFunction, "-", copies, launchAlong<pointerToFunction<T>>)

// Accesses behind macros, and a whole round of them in one line.
#define AT(matrix, row, column, columns) (matrix)[size_t(row) * (columns) + (column)]
#define INSIDE(row, column) ((column) < width && (row) < height)

TRANSPOSING(accessesByMacro)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, c = threadIdx.x;
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS) {
        if (INSIDE(top + r, left + c)) tile[r][c] = AT(idata, top + r, left + c, width);
    }
    __syncthreads();
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS) {
        if (INSIDE(top + c, left + r)) AT(odata, left + r, top + c, height) = tile[c][r];
    }
}

KERNEL(accessesByMacro, "-", transposes, launchTiles<accessesByMacro<T>>)
