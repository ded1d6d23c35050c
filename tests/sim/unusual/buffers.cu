// Shared memory: how it is declared, divided, swapped and addressed.

#include "unusual.h"

// One block of `rows` rows of threads per row of tiles.
template <auto kernel, int rows, typename T>
void launchRowsOfTiles(T* odata, const T* idata, int width, int height)
{
    kernel<<<dim3(1, pieces(height, TILE_DIM)), dim3(TILE_DIM, rows)>>>(odata, idata, width, height);
}

// One half of the block loads tiles, the other half stores the ones before.
TRANSPOSING(bufferProducersConsumers)
{
    __shared__ T tile[2][TILE_DIM][TILE_DIM + 1];
    const int top = blockIdx.y * TILE_DIM, tiles = (width + TILE_DIM - 1) / TILE_DIM;
    const int x = threadIdx.x, row = threadIdx.y % BLOCK_ROWS;
    const bool produces = threadIdx.y < BLOCK_ROWS;

    for (int turn = 0; turn <= tiles; ++turn) {
        const int left = (produces ? turn : turn - 1) * TILE_DIM;
        if (produces) {
            for (int j = row; j < TILE_DIM; j += BLOCK_ROWS)
                if (left + x < width && top + j < height)
                    tile[turn % 2][j][x] = idata[size_t(top + j) * width + left + x];
        } else if (turn > 0) {
            for (int j = row; j < TILE_DIM; j += BLOCK_ROWS)
                if (top + x < height && left + j < width)
                    odata[size_t(left + j) * height + top + x] = tile[(turn - 1) % 2][x][j];
        }
        __syncthreads();
    }
}

LAUNCHER(launchProducersConsumers)
{
    launchRowsOfTiles<bufferProducersConsumers<T>, 2 * BLOCK_ROWS>(odata, idata, width, height);
}

KERNEL(bufferProducersConsumers, "-", transposes, launchProducersConsumers)

// Shared memory whose size the launch sets.
extern __shared__ __align__(16) unsigned char dynamic_pool[];

// The same pool, declared in the kernel, divided, and next to a static variable.
TRANSPOSING(poolOfTheLaunchDivided)
{
    extern __shared__ __align__(16) unsigned char dynamic_pool[];
    __shared__ int count;
    T* const values = reinterpret_cast<T*>(dynamic_pool);
    unsigned* const places = reinterpret_cast<unsigned*>(values + blockDim.x);
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * blockDim.x;

    if (threadIdx.x == 0) count = n - first < blockDim.x ? int(n - first) : int(blockDim.x);
    __syncthreads();
    const int t = threadIdx.x;
    if (t < count) {
        values[count - 1 - t] = idata[first + t];
        places[count - 1 - t] = t;
    }
    __syncthreads();
    if (t < count) odata[first + places[t]] = values[t];
}

LAUNCHER(launchPoolOfTheLaunchDivided)
{
    const int threads = 96;
    const size_t bytes = threads * (sizeof(T) + sizeof(unsigned));
    poolOfTheLaunchDivided<T><<<pieces(size_t(width) * height, threads), threads, bytes>>>(odata, idata, width, height);
}

KERNEL(poolOfTheLaunchDivided, "-", copies, launchPoolOfTheLaunchDivided)

// A union: one piece of memory is a tile of elements first, a list of places afterwards.
TRANSPOSING(unionOfArrays)
{
    union Either {
        T elements[THREADS];
        unsigned places[THREADS];
    };
    __shared__ Either either;
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const unsigned t = threadIdx.x;
    T element = T(0);

    if (first + t < n) either.elements[t] = idata[first + t];
    __syncthreads();
    if (first + (t ^ 9) < n) element = either.elements[t ^ 9];
    __syncthreads();
    either.places[THREADS - 1 - t] = t;
    __syncthreads();
    const unsigned place = either.places[THREADS - 1 - t] ^ 9;
    if (first + place < n) odata[first + place] = element;
}

KERNEL(unionOfArrays, "-", copies, launchAlong<unionOfArrays<T>>)

// Each thread reads only cells that it has set itself, and needs no barrier.
TRANSPOSING(ownCells)
{
    __shared__ T cells[2][THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= n) return;
    cells[0][threadIdx.x] = idata[i];
    cells[1][threadIdx.x] = cells[0][threadIdx.x];
    odata[i] = cells[1][threadIdx.x];
}

KERNEL(ownCells, "-", copies, launchAlong<ownCells<T>>)

// Every third element is packed: a prefix sum in shared memory says where to.
TRANSPOSING(prefixSumPlaces)
{
    __shared__ int sums[THREADS];
    __shared__ T packed[THREADS];
    __shared__ int origin[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int t = threadIdx.x;
    const bool inside = first + t < n, chosen = inside && t % 3 == 1;

    sums[t] = chosen;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        const int before = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    if (chosen) {
        packed[sums[t] - 1] = idata[first + t];
        origin[sums[t] - 1] = t;
    } else if (inside) {
        odata[first + t] = idata[first + t];
    }
    __syncthreads();
    if (t < sums[THREADS - 1]) odata[first + origin[t]] = packed[t];
}

KERNEL(prefixSumPlaces, "-", copies, launchAlong<prefixSumPlaces<T>>)
