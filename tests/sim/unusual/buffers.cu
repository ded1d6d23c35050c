// Shared memory: how it is declared, divided, swapped and addressed.

#include "unusual.h"

// One thread per element, in the order of memory.
template <auto kernel, typename T>
void launchAlong(T* odata, const T* idata, int width, int height)
{
    kernel<<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

// One block of TILE_DIM x BLOCK_ROWS threads per tile.
template <auto kernel, typename T>
void launchTiles(T* odata, const T* idata, int width, int height)
{
    dim3 grid(pieces(width, TILE_DIM), pieces(height, TILE_DIM));
    dim3 block(TILE_DIM, BLOCK_ROWS);
    kernel<<<grid, block>>>(odata, idata, width, height);
}

// One block of `rows` rows of threads per row of tiles.
template <auto kernel, int rows, typename T>
void launchRowsOfTiles(T* odata, const T* idata, int width, int height)
{
    kernel<<<dim3(1, pieces(height, TILE_DIM)), dim3(TILE_DIM, rows)>>>(odata, idata, width, height);
}

// Two arrays in turn: one barrier per tile is enough.
TRANSPOSING(bufferEvenOdd)
{
    __shared__ T even[TILE_DIM][TILE_DIM + 1];
    __shared__ T odd[TILE_DIM][TILE_DIM + 1];
    const int top = blockIdx.y * TILE_DIM;

    for (int left = 0; left < width; left += TILE_DIM) {
        T(*tile)[TILE_DIM + 1] = left / TILE_DIM % 2 ? odd : even;
        for (int j = threadIdx.y; j < TILE_DIM; j += BLOCK_ROWS)
            if (left + int(threadIdx.x) < width && top + j < height)
                tile[j][threadIdx.x] = idata[size_t(top + j) * width + left + threadIdx.x];
        __syncthreads();
        for (int j = threadIdx.y; j < TILE_DIM; j += BLOCK_ROWS)
            if (top + int(threadIdx.x) < height && left + j < width)
                odata[size_t(left + j) * height + top + threadIdx.x] = tile[threadIdx.x][j];
    }
}

LAUNCHER(launchEvenOdd) { launchRowsOfTiles<bufferEvenOdd<T>, BLOCK_ROWS>(odata, idata, width, height); }

KERNEL(bufferEvenOdd, "-", transposes, launchEvenOdd)

// The same with one array of two tiles.
TRANSPOSING(bufferOfTwo)
{
    __shared__ T tile[2][TILE_DIM][TILE_DIM + 1];
    const int top = blockIdx.y * TILE_DIM;
    int now = 0;

    for (int left = 0; left < width; left += TILE_DIM, now ^= 1) {
        for (int j = threadIdx.y; j < TILE_DIM; j += BLOCK_ROWS)
            if (left + int(threadIdx.x) < width && top + j < height)
                tile[now][j][threadIdx.x] = idata[size_t(top + j) * width + left + threadIdx.x];
        __syncthreads();
        for (int j = threadIdx.y; j < TILE_DIM; j += BLOCK_ROWS)
            if (top + int(threadIdx.x) < height && left + j < width)
                odata[size_t(left + j) * height + top + threadIdx.x] = tile[now][threadIdx.x][j];
    }
}

LAUNCHER(launchOfTwo) { launchRowsOfTiles<bufferOfTwo<T>, BLOCK_ROWS>(odata, idata, width, height); }

KERNEL(bufferOfTwo, "-", transposes, launchOfTwo)

// A pair of pointers that change places after each turn. The next tile is loaded before the last
// one is stored.
TRANSPOSING(bufferPointersSwap)
{
    __shared__ T one[TILE_DIM * TILE_DIM], other[TILE_DIM * TILE_DIM];
    T *filling = one, *emptying = other;
    const int top = blockIdx.y * TILE_DIM;

    for (int left = 0; left < width + TILE_DIM; left += TILE_DIM) {
        for (int j = threadIdx.y; j < TILE_DIM; j += BLOCK_ROWS) {
            if (left + int(threadIdx.x) < width && top + j < height)
                filling[j * TILE_DIM + threadIdx.x] = idata[size_t(top + j) * width + left + threadIdx.x];
            const int before = left - TILE_DIM;
            if (before >= 0 && top + int(threadIdx.x) < height && before + j < width)
                odata[size_t(before + j) * height + top + threadIdx.x] = emptying[threadIdx.x * TILE_DIM + j];
        }
        __syncthreads();
        T* const filled = filling;
        filling = emptying;
        emptying = filled;
    }
}

LAUNCHER(launchPointersSwap) { launchRowsOfTiles<bufferPointersSwap<T>, BLOCK_ROWS>(odata, idata, width, height); }

KERNEL(bufferPointersSwap, "-", transposes, launchPointersSwap)

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

// A second array is declared when the first one is in use.
TRANSPOSING(declaredLate)
{
    __shared__ T first[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < n) first[threadIdx.x] = idata[i];
    __syncthreads();

    __shared__ T second[THREADS];
    second[threadIdx.x] = i < n ? first[threadIdx.x] : T(0);
    __syncthreads();

    const size_t mirror = size_t(blockIdx.x) * THREADS + THREADS - 1 - threadIdx.x;
    if (mirror < n) odata[mirror] = second[THREADS - 1 - threadIdx.x];
}

KERNEL(declaredLate, "-", copies, launchAlong<declaredLate<T>>)

// And a third one still later, of another type, in the scope of a loop.
TRANSPOSING(declaredLater)
{
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    for (int turn = 0; turn < 2; ++turn) {
        __shared__ T values[THREADS];
        if (i < n) values[threadIdx.x] = idata[i];
        __syncthreads();
        if (turn == 1) {
            __shared__ unsigned char order[THREADS];
            order[threadIdx.x] = static_cast<unsigned char>(THREADS - 1 - threadIdx.x);
            __syncthreads();
            __shared__ T reversed[THREADS];
            if (i < n) reversed[order[threadIdx.x]] = values[threadIdx.x];
            __syncthreads();
            if (i < n) odata[i] = reversed[THREADS - 1 - threadIdx.x];
        }
        __syncthreads();
    }
}

KERNEL(declaredLater, "-", copies, launchAlong<declaredLater<T>>)

// Two scopes, each with an array of the same name.
TRANSPOSING(declaredInTwoScopes)
{
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    T element = T(0);
    {
        __shared__ T tile[THREADS];
        if (first + threadIdx.x < n) tile[threadIdx.x] = idata[first + threadIdx.x];
        __syncthreads();
        if (first + (threadIdx.x ^ 5) < n) element = tile[threadIdx.x ^ 5];
    }
    {
        __shared__ T tile[2 * THREADS];
        tile[2 * threadIdx.x] = element;
        __syncthreads();
        if (first + threadIdx.x < n) odata[first + threadIdx.x] = tile[2 * (threadIdx.x ^ 5)];
    }
}

KERNEL(declaredInTwoScopes, "-", copies, launchAlong<declaredInTwoScopes<T>>)

// Bytes that become elements by a cast.
TRANSPOSING(poolOfBytes)
{
    __shared__ __align__(16) unsigned char pool[TILE_DIM * (TILE_DIM + 1) * sizeof(T)];
    T* const tile = reinterpret_cast<T*>(pool);

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[(threadIdx.y + j) * (TILE_DIM + 1) + threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x * (TILE_DIM + 1) + threadIdx.y + j];
}

KERNEL(poolOfBytes, "-", transposes, launchTiles<poolOfBytes<T>>)

// A pool divided into arrays of two types.
TRANSPOSING(poolDivided)
{
    __shared__ __align__(16) char pool[THREADS * (sizeof(T) + sizeof(short))];
    T* const values = reinterpret_cast<T*>(pool);
    short* const places = reinterpret_cast<short*>(pool + THREADS * sizeof(T));
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int t = threadIdx.x, place = (t * 37 + 11) % THREADS;  // 37 and 128 have no common divisor

    places[place] = short(t);
    if (first + t < n) values[place] = idata[first + t];
    __syncthreads();
    if (first + places[t] < n) odata[first + places[t]] = values[t];
}

KERNEL(poolDivided, "-", copies, launchAlong<poolDivided<T>>)

// Shared memory whose size the launch sets.
extern __shared__ __align__(16) unsigned char dynamic_pool[];

template <typename T>
__global__ void poolOfTheLaunch(T* odata, const T* idata, int width, int height, int pitch)
{
    T* tile = reinterpret_cast<T*>(dynamic_pool);

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[(threadIdx.y + j) * pitch + threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[size_t(y + j) * height + x] = tile[threadIdx.x * pitch + threadIdx.y + j];
}

LAUNCHER(launchPoolOfTheLaunch)
{
    const int pitch = TILE_DIM + 1;
    dim3 grid(pieces(width, TILE_DIM), pieces(height, TILE_DIM));
    dim3 block(TILE_DIM, BLOCK_ROWS);
    poolOfTheLaunch<T><<<grid, block, TILE_DIM * pitch * sizeof(T)>>>(odata, idata, width, height, pitch);
}

KERNEL(poolOfTheLaunch, "-", transposes, launchPoolOfTheLaunch)

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

// A struct of a tile and its place.
template <typename T>
struct TileAndPlace {
    T element[TILE_DIM][TILE_DIM + 1];
    int left, top;
    bool whole;
};

TRANSPOSING(structOfATile)
{
    __shared__ TileAndPlace<T> tile;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        tile.left = blockIdx.x * TILE_DIM;
        tile.top = blockIdx.y * TILE_DIM;
        tile.whole = tile.left + TILE_DIM <= width && tile.top + TILE_DIM <= height;
    }
    __syncthreads();
    int x = tile.left + threadIdx.x, y = tile.top + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (tile.whole || (x < width && y + j < height))
            tile.element[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
    __syncthreads();
    x = tile.top + threadIdx.x, y = tile.left + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (tile.whole || (x < height && y + j < width))
            odata[size_t(y + j) * height + x] = tile.element[threadIdx.x][threadIdx.y + j];
}

KERNEL(structOfATile, "-", transposes, launchTiles<structOfATile<T>>)

// The tile is transposed in place: the threads above its diagonal exchange two elements each.
TRANSPOSING(swapInPlace)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, c = threadIdx.x;

    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        tile[r][c] = left + c < width && top + r < height ? idata[size_t(top + r) * width + left + c] : T(0);
    __syncthreads();
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (r < c) {
            const T above = tile[r][c];
            tile[r][c] = tile[c][r];
            tile[c][r] = above;
        }
    __syncthreads();
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (top + c < height && left + r < width) odata[size_t(left + r) * height + top + c] = tile[r][c];
}

KERNEL(swapInPlace, "-", transposes, launchTiles<swapInPlace<T>>)

// Neighbours exchange elements, in rounds: after as many rounds as elements a row is reversed. The
// store reverses it again.
TRANSPOSING(swapNeighbours)
{
    constexpr int ROW = 64;
    __shared__ T row[ROW];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * ROW;
    const int t = threadIdx.x;  // of ROW / 2 threads

    for (int i = t; i < ROW; i += ROW / 2) row[i] = first + i < n ? idata[first + i] : T(0);
    __syncthreads();
    for (int round = 0; round < ROW; ++round) {
        const int i = 2 * t + round % 2;
        if (i + 1 < ROW) {
            const T element = row[i];
            row[i] = row[i + 1];
            row[i + 1] = element;
        }
        __syncthreads();
    }
    for (int i = t; i < ROW; i += ROW / 2)
        if (first + i < n) odata[first + i] = row[ROW - 1 - i];
}

LAUNCHER(launchSwapNeighbours)
{
    swapNeighbours<T><<<pieces(size_t(width) * height, 64), 32>>>(odata, idata, width, height);
}

KERNEL(swapNeighbours, "-", copies, launchSwapNeighbours)

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

// The tile by rows on the way in, as one row on the way out.
TRANSPOSING(tileAsOneRow)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];
    T* const flat = &tile[0][0];
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM;

    for (int j = threadIdx.y; j < TILE_DIM; j += BLOCK_ROWS) {
        T* const row = tile[j];
        if (left + int(threadIdx.x) < width && top + j < height)
            row[threadIdx.x] = idata[size_t(top + j) * width + left + threadIdx.x];
    }
    __syncthreads();
    for (int i = threadIdx.y * TILE_DIM + threadIdx.x; i < TILE_DIM * TILE_DIM; i += TILE_DIM * BLOCK_ROWS) {
        const int r = i % TILE_DIM, c = i / TILE_DIM;
        if (top + r < height && left + c < width) odata[size_t(left + c) * height + top + r] = flat[r * TILE_DIM + c];
    }
}

KERNEL(tileAsOneRow, "-", transposes, launchTiles<tileAsOneRow<T>>)

// A row of cells that is a tile of 8 x 16 on the way out.
TRANSPOSING(tileOfAnotherShape)
{
    __shared__ T cells[THREADS];
    T(*const tile)[16] = reinterpret_cast<T(*)[16]>(cells);
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int t = threadIdx.x, r = t % 8, c = t / 8;

    if (first + t < n) cells[t] = idata[first + t];
    __syncthreads();
    if (first + r * 16 + c < n) odata[first + r * 16 + c] = tile[r][c];
}

KERNEL(tileOfAnotherShape, "-", copies, launchAlong<tileOfAnotherShape<T>>)

// One thread works out where the block begins; all others read it.
TRANSPOSING(sharedPlace)
{
    __shared__ size_t first;
    __shared__ const T* from;
    const size_t n = size_t(width) * height;
    if (threadIdx.x == 31) {
        first = size_t(gridDim.x - 1 - blockIdx.x) * THREADS;
        from = idata + first;
    }
    __syncthreads();
    if (first + threadIdx.x < n) odata[first + threadIdx.x] = from[threadIdx.x];
}

KERNEL(sharedPlace, "-", copies, launchAlong<sharedPlace<T>>)

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

// A tree over the block's threads finds the last one that has an element.
TRANSPOSING(treeFindsTheLast)
{
    __shared__ int last[THREADS];
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int t = threadIdx.x;

    last[t] = first + t < n ? t : -1;
    if (first + t < n) tile[t] = idata[first + t];
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half && last[t + half] > last[t]) last[t] = last[t + half];
        __syncthreads();
    }
    const int mirror = last[0] - t;
    if (mirror >= 0) odata[first + mirror] = tile[mirror];
}

KERNEL(treeFindsTheLast, "-", copies, launchAlong<treeFindsTheLast<T>>)

// A volatile tile.
TRANSPOSING(volatileTile)
{
    __shared__ volatile T tile[TILE_DIM][TILE_DIM + 1];
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, c = threadIdx.x;

    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (left + c < width && top + r < height) tile[r][c] = idata[size_t(top + r) * width + left + c];
    __syncthreads();
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (top + c < height && left + r < width) odata[size_t(left + r) * height + top + c] = tile[c][r];
}

KERNEL(volatileTile, "-", transposes, launchTiles<volatileTile<T>>)

// One tile, used for four pieces of the matrix and in two orders.
TRANSPOSING(tileUsedAgain)
{
    __shared__ T tile[TILE_DIM][BLOCK_ROWS];
    const int left = blockIdx.x * TILE_DIM, c = threadIdx.x, r = threadIdx.y;

    for (int piece = 0; piece < TILE_DIM / BLOCK_ROWS; ++piece) {
        const int top = blockIdx.y * TILE_DIM + piece * BLOCK_ROWS;
        T* const cell = piece % 2 ? &tile[c][r] : &tile[0][0] + r * TILE_DIM + c;
        if (left + c < width && top + r < height) *cell = idata[size_t(top + r) * width + left + c];
        __syncthreads();
        const int t = r * TILE_DIM + c, row = t % BLOCK_ROWS, column = t / BLOCK_ROWS;
        const T* const from = piece % 2 ? &tile[column][row] : &tile[0][0] + row * TILE_DIM + column;
        if (left + column < width && top + row < height) odata[size_t(left + column) * height + top + row] = *from;
        __syncthreads();
    }
}

KERNEL(tileUsedAgain, "-", transposes, launchTiles<tileUsedAgain<T>>)
