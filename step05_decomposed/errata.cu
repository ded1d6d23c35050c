// Step 5, errata: kernels with the faults that were published at this stage. None of them is
// part of a run unless it is asked for.
//
//   make step05 && ./step05 --errata

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

// The tile stays where it is, so rows of odata are as long as those of idata: width elements. Here the offset of a row
// is computed from the height.
template <typename T>
__global__ void transposeFineGrainedByHeight(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    size_t index = size_t(y) * width + x;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[index + size_t(j) * width];

    __syncthreads();

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[index + size_t(j) * height] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchFineGrainedByHeight(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transposeFineGrainedByHeight<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(transposeFineGrainedByHeight, "E14", transposes_each_tile(TILE_DIM), launchFineGrainedByHeight)

ERRATUM(transposeFineGrainedByHeight, E14)
    .published_in("whitepaper")
    .caught_by("out-of-bounds-store")
    .corrected_by("transposeFineGrained")
    .shown_on(64, 128)
    .story("Published: the fine-grained kernel, timed on squares. It steps from row to row of the output by the "
           "height, though its tiles stay where they are: of 128 rows x 64 columns, 512 threads leave the matrix, with "
           "two stores each, and 4096 elements are never written. The text is about squares, but the diagonal kernel "
           "takes other shapes, and a reader will try them here. What remains: all times, which are of squares.");

// The kernel tests the place that it writes against the edge, but not the mirror image that it reads. In a tile that
// the edge cuts off, the mirror image may be an element that was never loaded.
template <typename T>
__global__ void transposeFineGrainedEdge(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
void launchFineGrainedEdge(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transposeFineGrainedEdge<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(transposeFineGrainedEdge, "E15", transposes_each_tile(TILE_DIM), launchFineGrainedEdge)

ERRATUM(transposeFineGrainedEdge, E15)
    .published_in("whitepaper's translation")
    .caught_by("uninitialized-load")
    .corrected_by("transposeFineGrained")
    .shown_on(50, 32)
    .story("Published: the fine-grained kernel with a test against the edge, as part of a complete program. The test "
           "keeps it inside the matrix, but a tile that the edge cuts off has no whole mirror image: elements "
           "come from columns of the tile that were never loaded. The program prints ten elements and checks none. "
           "What remains: the kernel, for whole tiles.");

// x and y already say where the tile goes when the load is tested with them, so the wrong tile is tested.
template <typename T>
__global__ void transposeCoarseGrainedGuard(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    size_t from = size_t(y) * width + x;
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[from + size_t(j) * width];

    __syncthreads();

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.y + j][threadIdx.x];
}

template <typename T>
void launchCoarseGrainedGuard(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transposeCoarseGrainedGuard<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(transposeCoarseGrainedGuard, "E15", moves_each_tile(TILE_DIM), launchCoarseGrainedGuard)

ERRATUM(transposeCoarseGrainedGuard, E15)
    .published_in("whitepaper's translation")
    .caught_by("uninitialized-load")
    .corrected_by("transposeCoarseGrained")
    .shown_on(64, 32)
    .story("Published: the coarse-grained kernel with a test against the edge, as part of a complete program. Its x "
           "and y have changed places by then, so that the load is allowed or not by where the tile will go: of 32 "
           "rows x 64 columns one whole tile is never loaded, and 1024 reads of shared memory get what was left "
           "there. Squares are right. The program prints ten elements and checks none. What remains: the kernel, for "
           "squares.");
