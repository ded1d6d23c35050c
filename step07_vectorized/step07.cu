// Step 7: sixteen bytes at a time.
//
//   make step07 && ./step07
//
// Step 4 asks the memory for four bytes per thread and instruction, and has too few of them under
// way to keep it busy. Here a thread loads vectors of 16 bytes, several before it needs the first,
// turns a little square of elements in its registers, and passes whole vectors through shared
// memory. Blocks go down the columns of tiles, so that what is written together lies together.

#include "../common/step.h"

constexpr int TILE_VECTORS = 16;  // the tile's width: 256 bytes

template <typename T>
__global__ void transposeVectorized(T* odata, const T* idata, int width, int height)
{
    constexpr int N = 16 / sizeof(T);             // elements of a vector
    constexpr int TILE_DIM = TILE_VECTORS * N;    // of the tile, on both sides
    __shared__ Vector<T> tile[TILE_DIM][TILE_VECTORS];

    int x = blockIdx.y * TILE_DIM + threadIdx.x * N;
    int y = blockIdx.x * TILE_DIM + threadIdx.y * N;

    // A square of N x N elements: a vector from each of N rows.
    Vector<T> in[N];
    for (int i = 0; i < N; ++i)
        if (x < width && y + i < height)
            in[i] = *reinterpret_cast<const Vector<T>*>(&idata[size_t(y + i) * width + x]);

    // Its columns become vectors, each of a row of the transposed tile. The XOR keeps threads
    // side by side, whose rows of the tile begin in the same bank, from meeting in one.
    for (int j = 0; j < N; ++j) {
        Vector<T> out;
        for (int i = 0; i < N; ++i) out[i] = in[i][j];
        tile[threadIdx.x * N + j][threadIdx.y ^ threadIdx.x] = out;
    }

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    x = blockIdx.x * TILE_DIM + threadIdx.x * N;
    y = blockIdx.y * TILE_DIM + threadIdx.y * N;

    for (int i = 0; i < N; ++i)
        if (x < height && y + i < width)
            *reinterpret_cast<Vector<T>*>(&odata[size_t(y + i) * height + x]) =
                tile[threadIdx.y * N + i][threadIdx.x ^ threadIdx.y];
}

constexpr int WIDE_TILE = 64;
constexpr int WIDE_ROWS = 8;

// For rows that do not all begin where a vector may: element by element. A sector that is written
// in part costs as much as a whole one, and more; so every row of odata is cut where sectors
// begin, which may be up to a sector to the left of the tile. The tile has those rows, too.
template <typename T>
__global__ void transposeUnaligned(T* odata, const T* idata, int width, int height)
{
    constexpr int SECTOR = 32 / sizeof(T);  // elements of a sector
    __shared__ T tile[SECTOR + WIDE_TILE][WIDE_TILE + 1];

    int left = blockIdx.y * WIDE_TILE;
    int top = blockIdx.x * WIDE_TILE;

    int x = left + threadIdx.x;
    for (int j = threadIdx.y; j < SECTOR + WIDE_TILE; j += WIDE_ROWS) {
        int y = top - SECTOR + j;
        if (x < width && y >= 0 && y < height)
            tile[j][threadIdx.x] = idata[size_t(y) * width + x];
    }

    __syncthreads();

    for (int j = threadIdx.y; j < WIDE_TILE; j += WIDE_ROWS) {
        int y = left + j;
        int back = (size_t(y) * height + top) % SECTOR;
        int x = top - back + threadIdx.x;
        if (y < width && x >= 0 && x < height)
            odata[size_t(y) * height + x] = tile[SECTOR - back + threadIdx.x][j];
    }
}

template <typename T>
void launchVectorized(T* odata, const T* idata, int width, int height)
{
    constexpr int N = 16 / sizeof(T), TILE_DIM = TILE_VECTORS * N, SECTOR = 32 / sizeof(T);
    if (width % N == 0 && height % N == 0) {
        dim3 grid((height + TILE_DIM - 1) / TILE_DIM, (width + TILE_DIM - 1) / TILE_DIM);
        LAUNCH(transposeVectorized<T>, grid, dim3(TILE_VECTORS, TILE_VECTORS))(odata, idata, width, height);
    } else {
        dim3 grid((height + SECTOR - 1 + WIDE_TILE - 1) / WIDE_TILE, (width + WIDE_TILE - 1) / WIDE_TILE);
        LAUNCH(transposeUnaligned<T>, grid, dim3(WIDE_TILE, WIDE_ROWS))(odata, idata, width, height);
    }
}

KERNEL(transposeVectorized, "-", transposes, launchVectorized)
