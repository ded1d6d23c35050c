// Step 4, variants: other ways to avoid bank conflicts, and other ways to distribute the tiles.
//
//   make step04 && ./step04 --all

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;
constexpr int SMALL_TILE = 16;
constexpr int GRID_DIM = 32;  // blocks in x and in y of the kernels that loop over the tiles
constexpr int NUM_REPS = 10;  // passes of the kernel that repeats itself

// The tile of step 3's 16 x 16 variant, padded. Why padding gains little here: `./step04 --errata`.
template <typename T>
__global__ void transposeTile16Padded(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[SMALL_TILE][SMALL_TILE + 1];

    int x = blockIdx.x * SMALL_TILE + threadIdx.x;
    int y = blockIdx.y * SMALL_TILE + threadIdx.y;

    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

    __syncthreads();

    x = blockIdx.y * SMALL_TILE + threadIdx.x;
    y = blockIdx.x * SMALL_TILE + threadIdx.y;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
void launchTile16Padded(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    transposeTile16Padded<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeTile16Padded, "B7", transposes, launchTile16Padded)

// Two rows of 16 words fill the 32 banks exactly, so there is no room for padding. Instead each
// pair of rows has its columns in another order, and the two columns that a warp reads lie in 32
// banks. (This holds for words of 4 bytes. Of doubles, half a warp is served at a time, and pairs conflict.)
template <typename T>
__global__ void transposeTile16Swizzled(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[SMALL_TILE][SMALL_TILE];

    int x = blockIdx.x * SMALL_TILE + threadIdx.x;
    int y = blockIdx.y * SMALL_TILE + threadIdx.y;

    // Element (row r, column c) lies at tile[r][c ^ (r & ~1)].
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x ^ (threadIdx.y & ~1u)] = idata[size_t(y) * width + x];

    __syncthreads();

    x = blockIdx.y * SMALL_TILE + threadIdx.x;
    y = blockIdx.x * SMALL_TILE + threadIdx.y;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y ^ (threadIdx.x & ~1u)];
}

template <typename T>
void launchTile16Swizzled(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    transposeTile16Swizzled<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeTile16Swizzled, "-", transposes, launchTile16Swizzled)

// The lesson's tile without padding. Row r has its elements in another order, element c at
// column c ^ r. A row still fills its own 32 words, and a column lies in 32 banks.
template <typename T>
__global__ void transposeSwizzled(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

template <typename T>
void launchSwizzled(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeSwizzled<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeSwizzled, "-", transposes, launchSwizzled)

// The lesson's tile with a thread for each of its elements. The looping blocks below are compared with it.
template <typename T>
__global__ void transposeTile32Padded(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T>
void launchTile32Padded(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, TILE_DIM);
    transposeTile32Padded<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeTile32Padded, "-", transposes, launchTile32Padded)

// The grid does not grow with the matrix. Every block takes a tile, then the tile one grid
// further on, until it reaches the edge of the matrix.
template <typename T>
__global__ void transposeLoopingBlocks(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    for (int top = blockIdx.y * TILE_DIM; top < height; top += gridDim.y * TILE_DIM)
        for (int left = blockIdx.x * TILE_DIM; left < width; left += gridDim.x * TILE_DIM) {
            int x = left + threadIdx.x;
            int y = top + threadIdx.y;
            if (x < width && y < height)
                tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

            __syncthreads();

            x = top + threadIdx.x;
            y = left + threadIdx.y;
            if (x < height && y < width)
                odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];

            // The next turn refills the tile: all threads must be done reading it.
            __syncthreads();
        }
}

template <typename T>
void launchLoopingBlocks(T* odata, const T* idata, int width, int height)
{
    dim3 grid(GRID_DIM, GRID_DIM);
    dim3 block(TILE_DIM, TILE_DIM);
    transposeLoopingBlocks<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeLoopingBlocks, "B9", transposes, launchLoopingBlocks)

// Half and twice as many blocks each way, to see whether 32 x 32 is the best grid.
template <typename T>
void launchLoopingGrid16(T* odata, const T* idata, int width, int height)
{
    dim3 grid(GRID_DIM / 2, GRID_DIM / 2), block(TILE_DIM, TILE_DIM);
    transposeLoopingBlocks<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeLoopingGrid16, "-", transposes, launchLoopingGrid16)

template <typename T>
void launchLoopingGrid64(T* odata, const T* idata, int width, int height)
{
    dim3 grid(2 * GRID_DIM, 2 * GRID_DIM), block(TILE_DIM, TILE_DIM);
    transposeLoopingBlocks<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeLoopingGrid64, "-", transposes, launchLoopingGrid64)

// Ten passes of the lesson in one launch. The whitepaper's first measurements repeated the kernels
// like this, to leave out the cost of launches. `--one-launch` repeats any kernel, by a deeper grid.
template <typename T>
__global__ void transposeRepeated(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int ox = blockIdx.y * TILE_DIM + threadIdx.x;
    int oy = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int pass = 0; pass < NUM_REPS; ++pass) {
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (x < width && y + j < height)
                tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

        __syncthreads();

        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (ox < height && oy + j < width)
                odata[size_t(oy + j) * height + ox] = tile[threadIdx.x][threadIdx.y + j];

        // The next pass refills the tile: all threads must be done reading it.
        __syncthreads();
    }
}

template <typename T>
void launchRepeated(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeRepeated<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeRepeated, "W12", transposes_repeatedly(NUM_REPS), launchRepeated)
