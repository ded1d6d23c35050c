// Exercise 7: the copy through shared memory, sixteen bytes at a time.
//
//   make lab07
//
// copyVectorized is step 1's copySharedMem, which moves single elements. Let it move vectors of 16 bytes,
// Vector<T>, into the tile and out of it. Floats then take a quarter of the requests, 16 sectors each, and
// 4 wavefronts for each request to the tile. A vector must begin at a multiple of 16 bytes. Where vectors
// cannot, launch copyElements. Which matrices are these? Launch copyVectorized for all others.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // side of the tile, in elements or vectors: what a thread moves at a time
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: each moves four

template <typename T> constexpr int N = 16 / sizeof(T);  // elements of a vector

// 16 bytes, aligned to 16 bytes like float4: one load or store moves them all.
template <typename T>
struct alignas(16) Vector {
    T element[N<T>];
};

// TODO: a tile of Vector<T>. One assignment moves a vector. transposeVectorized in variants.cu shows the casts.
template <typename T>
__global__ void copyVectorized(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Each thread reads back only its own elements. The barrier puts all its loads in flight before its stores.
    __syncthreads();

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x];
}

// For matrices in which not every row begins at a multiple of 16 bytes.
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
    // TODO: when copyVectorized, with how many blocks, and when copyElements?
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    if (width > 0)
        copyVectorized<T><<<grid, block>>>(odata, idata, width, height);
    else
        copyElements<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(copyVectorized, "-", copies, launchVectorized)
