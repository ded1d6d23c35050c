// Step 7: keep the memory busy.
//
//   make step07 && ./step07
//
// Step 4 touches neither a sector nor a bank in vain. What is left to gain is time: how much a block
// has in flight while it waits, and how well what it moves joins up with what other blocks move. The
// tile is larger, all loads of a thread start before the first is needed, a warp moves whole rows of
// the tile on both sides, and blocks go down the columns of tiles. variants.cu takes one of these at a time.

#include "../common/step.h"

constexpr int LANES = 32;  // a block is WARPS warps, each of them a row of threads
constexpr int WARPS = 16;

// A block moves one tile of HIGH x WIDE elements, 256 bytes wide or at least a warp. One word at the
// end of each row stays unused, as in step 4: four elements of one byte, or one of four.
template <typename T> constexpr int WIDE = sizeof(T) <= 2 ? 128 : sizeof(T) == 4 ? 64 : 32;
template <typename T> constexpr int HIGH = sizeof(T) <= 8 ? 128 : 64;
template <typename T> constexpr int PAD = sizeof(T) <= 4 ? 4 / sizeof(T) : 1;

template <typename T>
__global__ void transposeInFlight(T* odata, const T* idata, int width, int height, int columns)
{
    __shared__ T tile[HIGH<T>][WIDE<T> + PAD<T>];

    // Blocks that run together lie below each other: what they write lies side by side.
    int left = (blockIdx.y + blockIdx.x % columns * gridDim.y) * WIDE<T>;
    int top = blockIdx.x / columns * HIGH<T>;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    // A store to the tile waits for its element. Registers do not: all loads are in flight at once.
    T in[HIGH<T> / WARPS][WIDE<T> / LANES];
    for (int j = 0; j < HIGH<T>; j += WARPS)
        for (int i = 0; i < WIDE<T>; i += LANES)
            if (x + i < width && y + j < height)
                in[j / WARPS][i / LANES] = idata[size_t(y + j) * width + x + i];

    for (int j = 0; j < HIGH<T>; j += WARPS)
        for (int i = 0; i < WIDE<T>; i += LANES)
            tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / LANES];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = top + threadIdx.x;
    y = left + threadIdx.y;

    for (int j = 0; j < WIDE<T>; j += WARPS)
        for (int i = 0; i < HIGH<T>; i += LANES)
            if (x + i < height && y + j < width)
                odata[size_t(y + j) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

template <typename T>
void launchInFlight(T* odata, const T* idata, int width, int height)
{
    int wide = (width + WIDE<T> - 1) / WIDE<T>, high = (height + HIGH<T> - 1) / HIGH<T>;
    // Rows of odata that lie a multiple of 128 kB apart begin in the same banks of the DRAM. Then blocks
    // go down two columns at once, half a matrix apart: those of the other column begin elsewhere.
    int columns = height * sizeof(T) % (128 << 10) == 0 ? 2 : 1;
    dim3 grid(columns * high, (wide + columns - 1) / columns);
    transposeInFlight<T><<<grid, dim3(LANES, WARPS)>>>(odata, idata, width, height, columns);
}

KERNEL(transposeInFlight, "-", transposes, launchInFlight)
