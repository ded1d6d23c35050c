// Step 7: keep the memory busy.
//
//   make step07 && ./step07
//
// Step 4 touches no sector and no bank without need. The rest is time: how much a block has in flight
// while it waits, and how well its pieces of memory join those of other blocks. The tile is larger,
// all loads of a thread start before the first is needed, blocks go down the columns of tiles, and a
// warp moves whole rows of the tile. variants.cu takes one of these at a time.

#include "../common/step.h"

constexpr int LANES = 32;  // a block is WARPS warps, each of them a row of threads

// A tile is WIDE elements wide: 256 bytes for floats and doubles, and never less than a warp. One word at the
// end of each row stays unused, as in step 4: four elements of one byte, or one of four.
template <typename T> constexpr int WIDE = sizeof(T) == 1 ? 128 : sizeof(T) <= 4 ? 64 : 32;
template <typename T> constexpr int PAD = sizeof(T) <= 4 ? 4 / sizeof(T) : 1;

template <typename T, int HIGH, int WARPS>
__global__ void transposeInFlight(T* odata, const T* idata, int width, int height, int columns)
{
    __shared__ T tile[HIGH][WIDE<T> + PAD<T>];

    // Blocks that run together lie below each other: their rows of odata join.
    int left = (blockIdx.y + blockIdx.x % columns * gridDim.y) * WIDE<T>;
    int top = blockIdx.x / columns * HIGH;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    // A store to the tile waits for its element. Registers do not: all loads are in flight at once.
    T in[HIGH / WARPS][WIDE<T> / LANES];
    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE<T>; i += LANES)
            if (x + i < width && y + j < height)
                in[j / WARPS][i / LANES] = idata[size_t(y + j) * width + x + i];

    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE<T>; i += LANES)
            tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / LANES];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = top + threadIdx.x;
    y = left + threadIdx.y;

    for (int j = 0; j < WIDE<T>; j += WARPS)
        for (int i = 0; i < HIGH; i += LANES)
            if (x + i < height && y + j < width)
                odata[size_t(y + j) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

template <typename T, int HIGH, int WARPS>
void launchTiles(T* odata, const T* idata, int width, int height)
{
    int wide = (width + WIDE<T> - 1) / WIDE<T>, high = (height + HIGH - 1) / HIGH;
    // Rows of idata an odd multiple of 128 kB apart share banks of the H200's memory. Then blocks go down
    // two columns at once, half a matrix apart: the other column begins in other banks.
    int columns = width * sizeof(T) % (256 << 10) == 128 << 10 ? 2 : 1;
    dim3 grid(columns * high, (wide + columns - 1) / columns);
    transposeInFlight<T, HIGH, WARPS><<<grid, dim3(LANES, WARPS)>>>(odata, idata, width, height, columns);
}

template <typename T>
void launchInFlight(T* odata, const T* idata, int width, int height)
{
    constexpr int HIGH = (16 << 10) / sizeof(T) / WIDE<T>, WARPS = 16;  // 16 kB: 64 x 64 floats
    // Where rows of odata begin inside a sector, tiles share sectors with the tiles above and below. For
    // floats it pays to share fewer: a tile twice as tall.
    if (sizeof(T) == 4 && height * sizeof(T) % 32 != 0)
        launchTiles<T, 2 * HIGH, 2 * WARPS>(odata, idata, width, height);
    else
        launchTiles<T, HIGH, WARPS>(odata, idata, width, height);
}

KERNEL(transposeInFlight, "-", transposes, launchInFlight)
