// Step 6, errata: kernels with the faults that were published at this stage. None of them is
// part of a run unless it is asked for.
//
//   make step06 && ./step06 --errata

#include "../common/step.h"

constexpr int SMALL_TILE = 16;

// Diagonal order for squares, without a test against the edge.
template <typename T>
__global__ void transposeDiagonal16Untested(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[SMALL_TILE][SMALL_TILE + 1];

    int by = blockIdx.x;
    int bx = (blockIdx.x + blockIdx.y) % gridDim.x;

    int x = bx * SMALL_TILE + threadIdx.x;
    int y = by * SMALL_TILE + threadIdx.y;

    tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

    __syncthreads();

    x = by * SMALL_TILE + threadIdx.x;
    y = bx * SMALL_TILE + threadIdx.y;

    odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
void launchDiagonal16Untested(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    transposeDiagonal16Untested<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeDiagonal16Untested, "E7", transposes, launchDiagonal16Untested)

ERRATUM(transposeDiagonal16Untested, E7)
    .published_in("book 9.5")
    .caught_by("out-of-bounds-load")
    .corrected_by("transposeDiagonal16")
    .shown_on(50, 50)
    .story("Published: the diagonal order makes the transpose slower on a K20c. The other kernels of the book test "
           "every element against the edge of the matrix, this one none: where the side is no multiple of 16 it reads "
           "and writes beyond the end, and before it wraps round into the next row. What remains: the times, at "
           "multiples of 16; and they flatter the diagonal kernel, which was spared the tests.");

// The diagonal order of square grids, used in any grid: it visits gridDim.x rows of tiles where there are gridDim.y.
template <typename T>
__global__ void transposeRowDiagonalSquare(T* odata, const T* idata, int width, int height)
{
    int by = blockIdx.x;
    int bx = (blockIdx.x + blockIdx.y) % gridDim.x;

    int x = bx * SMALL_TILE + threadIdx.x;
    int y = by * SMALL_TILE + threadIdx.y;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchRowDiagonalSquare(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    transposeRowDiagonalSquare<T><<<grid, dim3(SMALL_TILE, SMALL_TILE)>>>(odata, idata, width, height);
}

KERNEL(transposeRowDiagonalSquare, "E16", transposes, launchRowDiagonalSquare)

ERRATUM(transposeRowDiagonalSquare, E16)
    .published_in("bandwidth post")
    .caught_by("wrong-result")
    .corrected_by("transposeRowDiagonal")
    .shown_on(64, 96)
    .story("Published: both naive transposes in diagonal order, for matrices of any shape: every element is tested "
           "against the edge. The order is the one for square grids. In a grid of 4 x 6 blocks the rule never gets to "
           "the last two rows of tiles: 8 of 24 tiles are never visited, 2048 elements never written. The test against "
           "the edge keeps quiet about it. What remains: the times, which are of squares.");
