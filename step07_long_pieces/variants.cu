// Step 7, variants: from step 4 to step 7, one idea at a time; and vectors, with which step 7 was built at first.
//
//   make step07 && ./step07 --all

#include "../common/step.h"

// Tiles have 16 KiB, as in step07.cu, and blocks have WIDE x ROWS threads.
template <typename T> constexpr int WIDE = sizeof(T) == 1 ? 128 : sizeof(T) <= 4 ? 64 : 32;
template <typename T> constexpr int HIGH = (16 << 10) / sizeof(T) / WIDE<T>;
template <typename T> constexpr int PAD = sizeof(T) <= 4 ? 4 / sizeof(T) : 1;
template <typename T> constexpr int ROWS = 512 / WIDE<T>;

// Step 4 with a larger tile: a block moves more of every row, on both sides, and a thread loads more elements.
template <typename T>
__global__ void transposeLargeTile(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[HIGH<T>][WIDE<T> + PAD<T>];

    int x = blockIdx.x * WIDE<T> + threadIdx.x;
    int y = blockIdx.y * HIGH<T> + threadIdx.y;

    for (int j = 0; j < HIGH<T>; j += ROWS<T>)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * HIGH<T> + threadIdx.x;
    y = blockIdx.x * WIDE<T> + threadIdx.y;

    for (int j = 0; j < WIDE<T>; j += ROWS<T>)
        for (int i = 0; i < HIGH<T>; i += WIDE<T>)
            if (x + i < height && y + j < width)
                odata[size_t(y + j) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

template <typename T>
void launchLargeTile(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + WIDE<T> - 1) / WIDE<T>, (height + HIGH<T> - 1) / HIGH<T>);
    transposeLargeTile<T><<<grid, dim3(WIDE<T>, ROWS<T>)>>>(odata, idata, width, height);
}

KERNEL(transposeLargeTile, "-", transposes, launchLargeTile)

// The same, with all loads of a thread in flight before the first is needed.
template <typename T>
__global__ void transposeLoadsFirst(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[HIGH<T>][WIDE<T> + PAD<T>];

    int x = blockIdx.x * WIDE<T> + threadIdx.x;
    int y = blockIdx.y * HIGH<T> + threadIdx.y;

    T in[HIGH<T> / ROWS<T>];
    for (int j = 0; j < HIGH<T>; j += ROWS<T>)
        if (x < width && y + j < height)
            in[j / ROWS<T>] = idata[size_t(y + j) * width + x];

    for (int j = 0; j < HIGH<T>; j += ROWS<T>)
        tile[threadIdx.y + j][threadIdx.x] = in[j / ROWS<T>];

    __syncthreads();

    x = blockIdx.y * HIGH<T> + threadIdx.x;
    y = blockIdx.x * WIDE<T> + threadIdx.y;

    for (int j = 0; j < WIDE<T>; j += ROWS<T>)
        for (int i = 0; i < HIGH<T>; i += WIDE<T>)
            if (x + i < height && y + j < width)
                odata[size_t(y + j) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

template <typename T>
void launchLoadsFirst(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + WIDE<T> - 1) / WIDE<T>, (height + HIGH<T> - 1) / HIGH<T>);
    transposeLoadsFirst<T><<<grid, dim3(WIDE<T>, ROWS<T>)>>>(odata, idata, width, height);
}

KERNEL(transposeLoadsFirst, "-", transposes, launchLoadsFirst)

// The same, with blocks that go down the columns of tiles: blockIdx.x and blockIdx.y change places. Step 7 adds one
// warp per row, rows of odata that are cut at sectors, and two columns at once.
template <typename T>
__global__ void transposeDownColumns(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[HIGH<T>][WIDE<T> + PAD<T>];

    int x = blockIdx.y * WIDE<T> + threadIdx.x;
    int y = blockIdx.x * HIGH<T> + threadIdx.y;

    T in[HIGH<T> / ROWS<T>];
    for (int j = 0; j < HIGH<T>; j += ROWS<T>)
        if (x < width && y + j < height)
            in[j / ROWS<T>] = idata[size_t(y + j) * width + x];

    for (int j = 0; j < HIGH<T>; j += ROWS<T>)
        tile[threadIdx.y + j][threadIdx.x] = in[j / ROWS<T>];

    __syncthreads();

    x = blockIdx.x * HIGH<T> + threadIdx.x;
    y = blockIdx.y * WIDE<T> + threadIdx.y;

    for (int j = 0; j < WIDE<T>; j += ROWS<T>)
        for (int i = 0; i < HIGH<T>; i += WIDE<T>)
            if (x + i < height && y + j < width)
                odata[size_t(y + j) * height + x + i] = tile[threadIdx.x + i][threadIdx.y + j];
}

template <typename T>
void launchDownColumns(T* odata, const T* idata, int width, int height)
{
    dim3 grid((height + HIGH<T> - 1) / HIGH<T>, (width + WIDE<T> - 1) / WIDE<T>);
    transposeDownColumns<T><<<grid, dim3(WIDE<T>, ROWS<T>)>>>(odata, idata, width, height);
}

KERNEL(transposeDownColumns, "-", transposes, launchDownColumns)

// Vectors: a thread moves 16 bytes by one instruction, and turns a square of elements in its registers.
// This is as fast as step 7 where rows begin at multiples of 16 bytes, and nowhere else. Vectors are one way
// of several to have many bytes in flight. For elements of 1 and 2 bytes they are faster than step 7: a
// request of 32 single elements moves 32 or 64 bytes only.

constexpr int TILE_VECTORS = 16;                                              // across the tile
template <typename T> constexpr int BYTES = sizeof(T) == 1 ? 8 : 16;          // of a vector
template <typename T> constexpr int N = BYTES<T> / sizeof(T);                 // elements of a vector
template <typename T> constexpr int TILE_DIM = TILE_VECTORS * N<T>;           // of the tile, on both sides

// BYTES bytes, aligned to BYTES like float4: one load or store moves them all (LDG.128 where they are 16).
template <typename T>
struct alignas(BYTES<T>) Vector {
    T element[N<T>];
};

template <typename T>
__global__ void transposeVectorized(T* odata, const T* idata, int width, int height)
{
    __shared__ Vector<T> tile[TILE_DIM<T>][TILE_VECTORS];

    int left = (blockIdx.y + blockIdx.x % 2 * gridDim.y) * TILE_DIM<T>;
    int top = blockIdx.x / 2 * TILE_DIM<T>;

    int x = left + threadIdx.x * N<T>;
    int y = top + threadIdx.y * N<T>;

    // A square of N x N elements: a vector from each of N rows.
    Vector<T> in[N<T>];
    for (int i = 0; i < N<T>; ++i)
        if (x < width && y + i < height)
            in[i] = *reinterpret_cast<const Vector<T>*>(&idata[size_t(y + i) * width + x]);

    // Its columns become vectors, each of a row of the transposed tile. Rows of the tile that neighbouring threads
    // write begin in the same bank. The XOR spreads them over different banks.
    for (int j = 0; j < N<T>; ++j) {
        Vector<T> out;
        for (int i = 0; i < N<T>; ++i) out.element[i] = in[i].element[j];
        tile[threadIdx.x * N<T> + j][threadIdx.y ^ threadIdx.x] = out;
    }

    __syncthreads();

    x = top + threadIdx.x * N<T>;
    y = left + threadIdx.y * N<T>;

    for (int i = 0; i < N<T>; ++i)
        if (x < height && y + i < width)
            *reinterpret_cast<Vector<T>*>(&odata[size_t(y + i) * height + x]) =
                tile[threadIdx.y * N<T> + i][threadIdx.x ^ threadIdx.y];
}

// For rows that do not all begin at a multiple of BYTES: the large tile, down the columns.
template <typename T>
__global__ void transposeUnaligned(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[HIGH<T>][WIDE<T> + PAD<T>];

    int x = blockIdx.y * WIDE<T> + threadIdx.x;
    int y = blockIdx.x * HIGH<T> + threadIdx.y;

    for (int j = 0; j < HIGH<T>; j += ROWS<T>)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.x * HIGH<T> + threadIdx.x;
    y = blockIdx.y * WIDE<T> + threadIdx.y;

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
