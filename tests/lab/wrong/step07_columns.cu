// loses: tile
// hint: wavefronts per
//
// A warp is 8 rows of 4 vectors: whole sectors still, but rows meet in the same banks.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // of the tile, in what a thread moves at a time
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: each moves four

template <typename T> constexpr int N = 16 / sizeof(T);  // elements of a vector

// For rows of whole vectors: then each begins at a multiple of 16 bytes.
template <typename T>
__global__ void copyVectorized(T* odata, const T* idata, int width, int height)
{
    __shared__ Vector<T> tile[TILE_DIM][TILE_DIM];

    int x = (blockIdx.x * TILE_DIM + threadIdx.y) * N<T>;
    int y = blockIdx.y * TILE_DIM + threadIdx.x;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.x + j][threadIdx.y] = *reinterpret_cast<const Vector<T>*>(&idata[size_t(y + j) * width + x]);

    // Each thread reads back only what it wrote itself: the barrier gets all its loads under way.
    __syncthreads();

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            *reinterpret_cast<Vector<T>*>(&odata[size_t(y + j) * width + x]) = tile[threadIdx.x + j][threadIdx.y];
}

// For rows that do not all begin where a vector may.
template <typename T>
__global__ void copyElements(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.y;
    int y = blockIdx.y * TILE_DIM + threadIdx.x;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = idata[size_t(y + j) * width + x];
}

template <typename T>
void launchVectorized(T* odata, const T* idata, int width, int height)
{
    bool whole = width % N<T> == 0;
    int across = whole ? width / N<T> : width;
    dim3 grid((across + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(BLOCK_ROWS, TILE_DIM);
    if (whole)
        LAUNCH(copyVectorized<T>, grid, block)(odata, idata, width, height);
    else
        LAUNCH(copyElements<T>, grid, block)(odata, idata, width, height);
}

KERNEL(copyVectorized, "-", copies, launchVectorized)
