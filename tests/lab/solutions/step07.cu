// Exercise 7, solved: vectors wherever the width is a whole number of them. The height does not
// matter: a copy's rows are as long in odata as in idata.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // of the tile, in what a thread moves at a time
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: each moves four

template <typename T> constexpr int N = 16 / sizeof(T);  // elements of a vector

// Sixteen bytes at a multiple of sixteen, as float4 has them: one load or store moves them all.
template <typename T>
struct alignas(16) Vector {
    T element[N<T>];
};

// For rows of whole vectors: then each begins at a multiple of 16 bytes.
template <typename T>
__global__ void copyVectorized(T* odata, const T* idata, int width, int height)
{
    __shared__ Vector<T> tile[TILE_DIM][TILE_DIM];

    int x = (blockIdx.x * TILE_DIM + threadIdx.x) * N<T>;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = *reinterpret_cast<const Vector<T>*>(&idata[size_t(y + j) * width + x]);

    // Each thread reads back only what it wrote itself: the barrier gets all its loads under way.
    __syncthreads();

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            *reinterpret_cast<Vector<T>*>(&odata[size_t(y + j) * width + x]) = tile[threadIdx.y + j][threadIdx.x];
}

// For rows that do not all begin where a vector may.
template <typename T>
__global__ void copyElements(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

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
    dim3 block(TILE_DIM, BLOCK_ROWS);
    if (whole)
        copyVectorized<T><<<grid, block>>>(odata, idata, width, height);
    else
        copyElements<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(copyVectorized, "-", copies, launchVectorized)
