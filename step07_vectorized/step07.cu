// Step 7: sixteen bytes at a time.
//
//   make step07 && ./step07
//
// Step 4 moves pieces of 128 bytes, four bytes per thread and instruction. Here a thread loads
// vectors of 16 bytes, turns a little square of elements in its registers, and passes whole vectors
// through shared memory: pieces of 256 bytes, by few instructions. Blocks go down columns of tiles,
// so that what is written together lies together.

#include "../common/step.h"

constexpr int TILE_VECTORS = 16;  // the tile's width: 256 bytes

template <typename T> constexpr int N = 16 / sizeof(T);              // elements of a vector
template <typename T> constexpr int TILE_DIM = TILE_VECTORS * N<T>;  // of the tile, on both sides

// Sixteen bytes at a multiple of sixteen, as float4 has them: one load or store moves them all.
template <typename T>
struct alignas(16) Vector {
    T element[N<T>];
};

template <typename T>
__global__ void transposeVectorized(T* odata, const T* idata, int width, int height)
{
    __shared__ Vector<T> tile[TILE_DIM<T>][TILE_VECTORS];

    // Down two columns of tiles at once, half a matrix apart: all rows of one column may begin at
    // the same place of the memory's banks, and then those of the other column do not.
    int left = (blockIdx.y + blockIdx.x % 2 * gridDim.y) * TILE_DIM<T>;
    int top = blockIdx.x / 2 * TILE_DIM<T>;

    int x = left + threadIdx.x * N<T>;
    int y = top + threadIdx.y * N<T>;

    // A square of N x N elements: a vector from each of N rows.
    Vector<T> in[N<T>];
    for (int i = 0; i < N<T>; ++i)
        if (x < width && y + i < height)
            in[i] = *reinterpret_cast<const Vector<T>*>(&idata[size_t(y + i) * width + x]);

    // Its columns become vectors, each of a row of the transposed tile. The XOR keeps threads
    // side by side, whose rows of the tile begin in the same bank, from meeting in one.
    for (int j = 0; j < N<T>; ++j) {
        Vector<T> out;
        for (int i = 0; i < N<T>; ++i) out.element[i] = in[i].element[j];
        tile[threadIdx.x * N<T> + j][threadIdx.y ^ threadIdx.x] = out;
    }

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = top + threadIdx.x * N<T>;
    y = left + threadIdx.y * N<T>;

    for (int i = 0; i < N<T>; ++i)
        if (x < height && y + i < width)
            *reinterpret_cast<Vector<T>*>(&odata[size_t(y + i) * height + x]) =
                tile[threadIdx.y * N<T> + i][threadIdx.x ^ threadIdx.y];
}

template <typename T> constexpr int WIDE = 256 / sizeof(T);
template <typename T> constexpr int HIGH = 2 * WIDE<T>;
template <typename T> constexpr int ROWS = 512 / WIDE<T>;  // of threads

// For rows that do not all begin where a vector may: step 4 again, element by element. The higher
// tile lets a thread load more of them before it needs the first.
template <typename T>
__global__ void transposeUnaligned(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[HIGH<T>][WIDE<T> + 1];

    int left = blockIdx.y * WIDE<T>;
    int top = blockIdx.x * HIGH<T>;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    for (int j = 0; j < HIGH<T>; j += ROWS<T>)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = top + threadIdx.x;
    y = left + threadIdx.y;

    for (int j = 0; j < WIDE<T>; j += ROWS<T>)
        for (int i = 0; i < HIGH<T>; i += WIDE<T>)
            if (x + i < height && y + j < width)
                odata[size_t(y + j) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

template <typename T>
void launchVectorized(T* odata, const T* idata, int width, int height)
{
    if (width % N<T> == 0 && height % N<T> == 0) {
        int wide = (width + TILE_DIM<T> - 1) / TILE_DIM<T>, high = (height + TILE_DIM<T> - 1) / TILE_DIM<T>;
        dim3 grid(2 * high, (wide + 1) / 2);
        transposeVectorized<T><<<grid, dim3(TILE_VECTORS, TILE_VECTORS)>>>(odata, idata, width, height);
    } else {
        dim3 grid((height + HIGH<T> - 1) / HIGH<T>, (width + WIDE<T> - 1) / WIDE<T>);
        transposeUnaligned<T><<<grid, dim3(WIDE<T>, ROWS<T>)>>>(odata, idata, width, height);
    }
}

KERNEL(transposeVectorized, "-", transposes, launchVectorized)
