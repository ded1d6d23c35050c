// Step 7: move longer pieces.
//
//   make step07 && ./step07
//
// Step 4 moves no sector too many and has no bank conflicts, but it moves the matrix in short pieces, the parts of the
// rows that lie in a tile, and few of them at a time. Here the tile is larger, all loads of a thread start before
// the first is needed, blocks go down the columns of tiles, and a warp moves a whole piece. variants.cu adds one of
// these at a time.

#include "../common/step.h"

constexpr int LANES = 32, WARPS = 16;  // a block is WARPS warps, each of them a row of threads

// As in step 4, one word at the end of each row of the tile stays unused: four elements of 1 byte, or one of 4 bytes.
template <typename T> constexpr int PAD = sizeof(T) <= 4 ? 4 / sizeof(T) : 1;
template <typename T> constexpr int SECTOR = 32 / sizeof(T);  // elements

// Rows of odata may begin inside a sector. Then tiles overlap by OVERLAP rows, as many as a sector has elements.
// A block begins and ends each row of odata at a sector, so that no two blocks store to the same sector.
template <typename T, int WIDE, int HIGH, int OVERLAP>
__global__ void transposeLongPieces(T* odata, const T* idata, int width, int height, int columns)
{
    static_assert(HIGH % WARPS == 0 && WIDE % LANES == 0 && (HIGH - OVERLAP) % SECTOR<T> == 0);
    __shared__ T tile[HIGH][WIDE + PAD<T>];

    // Blocks that run together take tiles below each other. Their rows of odata then join.
    int left = (blockIdx.y + blockIdx.x % columns * gridDim.y) * WIDE;
    int top = int(blockIdx.x / columns) * (HIGH - OVERLAP) - OVERLAP;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    // A store to the tile waits for its element, a load into a register does not: all loads are in flight at once.
    T in[HIGH / WARPS][WIDE / LANES];
    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE; i += LANES)
            if (x + i < width && 0 <= y + j && y + j < height)
                in[j / WARPS][i / LANES] = idata[size_t(y + j) * width + x + i];

    for (int j = 0; j < HIGH; j += WARPS)
        for (int i = 0; i < WIDE; i += LANES)
            tile[threadIdx.y + j][threadIdx.x + i] = in[j / WARPS][i / LANES];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    y = left + threadIdx.y;

    for (int j = 0; j < WIDE; j += WARPS) {
        size_t row = size_t(y + j) * height;
        int first = OVERLAP ? SECTOR<T> - (row + top + OVERLAP) % SECTOR<T> : 0;  // where a sector begins
        x = top + first + threadIdx.x;
        for (int i = 0; i < HIGH - OVERLAP; i += LANES)
            if (threadIdx.x + i < HIGH - OVERLAP && 0 <= x + i && x + i < height && y + j < width)
                odata[row + x + i] = tile[first + threadIdx.x + i][threadIdx.y + j];
    }
}

template <typename T, int WIDE, int HIGH, int OVERLAP>
void launchTiles(T* odata, const T* idata, int width, int height)
{
    int wide = (width + WIDE - 1) / WIDE, high = (height + HIGH - 1) / (HIGH - OVERLAP);
    // Measured on an H200: where rows of idata are an odd multiple of 128 KiB apart, two columns at once, half a
    // matrix apart, are 3 to 5 % faster for elements of 8 and 16 bytes. A hypothesis: they use other banks of the DRAM.
    int columns = width * sizeof(T) % (256 << 10) == 128 << 10 ? 2 : 1;
    dim3 grid(columns * high, (wide + columns - 1) / columns);
    transposeLongPieces<T, WIDE, HIGH, OVERLAP><<<grid, dim3(LANES, WARPS)>>>(odata, idata, width, height, columns);
}

// Tiles have 16 KiB (64 x 64 floats). Tiles that overlap are larger, so that less is loaded twice (64 x 80 floats).
template <typename T>
void launchLongPieces(T* odata, const T* idata, int width, int height)
{
    constexpr int WIDE = sizeof(T) == 1 ? 128 : sizeof(T) <= 4 ? 64 : 32, HIGH = (16 << 10) / sizeof(T) / WIDE;
    constexpr int WIDE_CUT = sizeof(T) == 8 ? 64 : WIDE, HIGH_CUT = HIGH + (sizeof(T) == 1 ? 32 : 16);
    if (height % SECTOR<T> == 0)
        launchTiles<T, WIDE, HIGH, 0>(odata, idata, width, height);
    else
        launchTiles<T, WIDE_CUT, HIGH_CUT, SECTOR<T>>(odata, idata, width, height);
}

KERNEL(transposeLongPieces, "-", transposes, launchLongPieces)
