// Guards at the edge of the matrix, and barriers under conditions that hold for the whole block.

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

// One condition, tested before and after the barrier. A compiler may merge the two tests.
TRANSPOSING(guardTwice)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const int t = threadIdx.x;

    if (i < n) tile[t] = idata[i];
    __syncthreads();
    if (i < n) odata[i] = tile[t];
}

KERNEL(guardTwice, "-", copies, launchAlong<guardTwice<T>>)

// The part of the guard that does not change is hoisted out of the loops.
TRANSPOSING(guardHoisted)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    bool inside = x < width;
    if (inside)
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    inside = x < height;
    if (inside)
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (y + j < width) odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

KERNEL(guardHoisted, "-", transposes, launchTiles<guardHoisted<T>>)

// One hoisted guard on both sides of the barrier: the fine-grained half of step 5.
TRANSPOSING(guardHoistedOnce)
{
    __shared__ T tile[TILE_DIM][TILE_DIM];

    const int x = blockIdx.x * TILE_DIM + threadIdx.x;
    const int y = blockIdx.y * TILE_DIM + threadIdx.y;
    const bool inside = x < width;

    if (inside)
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
    __syncthreads();
    if (inside)
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (y + j < height) {
                const int mx = blockIdx.x * TILE_DIM + threadIdx.y + j, my = blockIdx.y * TILE_DIM + threadIdx.x;
                const bool whole = mx < width && my < height;
                odata[size_t(y + j) * width + x] =
                    whole ? tile[threadIdx.x][threadIdx.y + j] : tile[threadIdx.y + j][threadIdx.x];
            }
}

KERNEL(guardHoistedOnce, "-", transposes_each_tile(TILE_DIM), launchTiles<guardHoistedOnce<T>>)

// One half of the block loads, the other half stores; the test is made three times.
TRANSPOSING(guardOfRoles)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const bool loads = threadIdx.x < THREADS / 2;
    const int one = threadIdx.x % (THREADS / 2), other = one + THREADS / 2;

    if (loads && first + one < n) tile[one] = idata[first + one];
    if (loads && first + other < n) tile[other] = idata[first + other];
    __syncthreads();
    if (!loads && first + one < n) odata[first + one] = tile[one];
    __syncthreads();
    if (loads && first + other < n) odata[first + other] = tile[other];
}

KERNEL(guardOfRoles, "-", copies, launchAlong<guardOfRoles<T>>)

// Cells outside the matrix are filled with zeros, so that the whole tile may be read.
TRANSPOSING(guardFillsZeros)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = x < width && y + j < height ? idata[size_t(y + j) * width + x] : T(0);

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        const T element = tile[threadIdx.x][threadIdx.y + j];
        if (x < height && y + j < width) odata[size_t(y + j) * height + x] = element;
    }
}

KERNEL(guardFillsZeros, "-", transposes, launchTiles<guardFillsZeros<T>>)

// Elements outside are skipped by `continue` on the one side, by `break` on the other.
TRANSPOSING(guardSkips)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x >= width) continue;
        if (y + j >= height) continue;
        tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
    }

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x >= height || y + j >= width) break;
        odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
    }
}

KERNEL(guardSkips, "-", transposes, launchTiles<guardSkips<T>>)

// goto past the load, and past the store.
TRANSPOSING(guardJumps)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;

    if (i >= n) goto loaded;
    tile[threadIdx.x] = idata[i];
loaded:
    __syncthreads();
    if (i >= n) goto stored;
    odata[i] = tile[threadIdx.x];
stored:
    return;
}

KERNEL(guardJumps, "-", copies, launchAlong<guardJumps<T>>)

// Threads exchange elements through odata: a barrier makes a block's stores to global memory
// visible to its threads, too.
TRANSPOSING(guardReadsBack)
{
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int count = n - first < THREADS ? int(n - first) : THREADS;
    const int t = threadIdx.x, mirror = count - 1 - t;
    T element = T(0);

    if (t < count) odata[first + t] = idata[first + mirror];
    __syncthreads();
    if (t < count) element = odata[first + mirror];
    __syncthreads();
    if (t < count) odata[first + t] = element;
}

KERNEL(guardReadsBack, "-", copies, launchAlong<guardReadsBack<T>>)

// Only blocks of even number go through shared memory.
TRANSPOSING(barrierInOneBranch)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const size_t mirror = size_t(blockIdx.x) * THREADS + THREADS - 1 - threadIdx.x;

    if (blockIdx.x % 2 == 0) {
        if (mirror < n) tile[threadIdx.x] = idata[mirror];
        __syncthreads();
        if (i < n) odata[i] = tile[THREADS - 1 - threadIdx.x];
    } else if (i < n) {
        odata[i] = idata[i];
    }
}

KERNEL(barrierInOneBranch, "-", copies, launchAlong<barrierInOneBranch<T>>)

// A barrier in either branch. All threads of a block take the same one.
TRANSPOSING(barrierInBothBranches)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const size_t mirror = size_t(blockIdx.x) * THREADS + THREADS - 1 - threadIdx.x;

    if (blockIdx.x % 2 == 0) {
        if (mirror < n) tile[threadIdx.x] = idata[mirror];
        __syncthreads();
        if (i < n) odata[i] = tile[THREADS - 1 - threadIdx.x];
    } else {
        if (mirror < n) tile[THREADS - 1 - threadIdx.x] = idata[mirror];
        __syncthreads();
        if (i < n) odata[i] = tile[threadIdx.x];
    }
}

KERNEL(barrierInBothBranches, "-", copies, launchAlong<barrierInBothBranches<T>>)

// A switch over the block's number. One case falls through to the next.
TRANSPOSING(barrierInASwitch)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const size_t mirror = size_t(blockIdx.x) * THREADS + THREADS - 1 - threadIdx.x;
    int from = threadIdx.x;

    switch (blockIdx.x % 3) {
        case 0:
            if (i < n) odata[i] = idata[i];
            break;
        case 1:
            from = THREADS - 1 - threadIdx.x;
            if (mirror < n) tile[threadIdx.x] = idata[mirror];
            __syncthreads();
            if (i < n) odata[i] = tile[from];
            break;
        default:
            if (i < n) tile[threadIdx.x] = idata[i];
            __syncthreads();
            if (i < n) odata[i] = tile[from];
    }
}

KERNEL(barrierInASwitch, "-", copies, launchAlong<barrierInASwitch<T>>)

// Turns of odd number are over before the second barrier, for all threads.
TRANSPOSING(barrierAndContinue)
{
    __shared__ T tile[TILE_DIM / BLOCK_ROWS][BLOCK_ROWS][TILE_DIM];
    const int x = blockIdx.x * TILE_DIM + threadIdx.x;

    for (int turn = 0; turn < TILE_DIM / BLOCK_ROWS; ++turn) {
        const int y = blockIdx.y * TILE_DIM + turn * BLOCK_ROWS + threadIdx.y;
        const int mirror = blockIdx.y * TILE_DIM + turn * BLOCK_ROWS + BLOCK_ROWS - 1 - threadIdx.y;
        if (x < width && mirror < height) tile[turn][threadIdx.y][threadIdx.x] = idata[size_t(mirror) * width + x];
        __syncthreads();
        if (x < width && y < height)
            odata[size_t(x) * height + y] = tile[turn][BLOCK_ROWS - 1 - threadIdx.y][threadIdx.x];
        if (turn % 2 == 1) continue;
        __syncthreads();
    }
}

KERNEL(barrierAndContinue, "-", transposes, launchTiles<barrierAndContinue<T>>)

// A block goes down a column of tiles, and tests at the end of each turn.
TRANSPOSING(barrierInDoWhile)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int top = 0;
    do {
        int x = blockIdx.x * TILE_DIM + threadIdx.x;
        int y = top + threadIdx.y;
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];
        __syncthreads();
        x = top + threadIdx.x;
        y = blockIdx.x * TILE_DIM + threadIdx.y;
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (x < height && y + j < width) odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
        __syncthreads();
        top += TILE_DIM;
    } while (top < height);
}

LAUNCHER(launchDoWhile)
{
    barrierInDoWhile<T><<<pieces(width, TILE_DIM), dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(barrierInDoWhile, "-", transposes, launchDoWhile)

// How many turns there are is read from shared memory, where one thread has left it.
TRANSPOSING(barrierTurnsFromShared)
{
    __shared__ T tile[THREADS];
    __shared__ int turns;
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS * 4;

    if (threadIdx.x == 0) turns = n - first < THREADS * 4 ? int((n - first + THREADS - 1) / THREADS) : 4;
    __syncthreads();
    for (int turn = 0; turn < turns; ++turn) {
        const size_t i = first + turn * THREADS + threadIdx.x,
                     mirror = first + turn * THREADS + THREADS - 1 - threadIdx.x;
        if (i < n) tile[THREADS - 1 - threadIdx.x] = idata[i];
        __syncthreads();
        if (mirror < n) odata[mirror] = tile[threadIdx.x];
        __syncthreads();
    }
}

LAUNCHER(launchTurnsFromShared)
{
    barrierTurnsFromShared<T><<<pieces(size_t(width) * height, THREADS * 4), THREADS>>>(odata, idata, width, height);
}

KERNEL(barrierTurnsFromShared, "-", copies, launchTurnsFromShared)

// Barriers one behind the other, and two in one line.
TRANSPOSING(barriersInARow)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;

    __syncthreads();
    if (i < n) tile[threadIdx.x ^ 1] = idata[i];
    __syncthreads(); __syncthreads();
    __syncthreads();
    if (i < n) odata[i] = tile[threadIdx.x ^ 1];
    __syncthreads();
}

KERNEL(barriersInARow, "-", copies, launchAlong<barriersInARow<T>>)

// The block goes on until no thread has an element.
TRANSPOSING(barrierOrDecides)
{
    __shared__ T tile[TILE_DIM];
    size_t from = size_t(blockIdx.x) * width;

    for (int x = threadIdx.x; __syncthreads_or(x < width); x += TILE_DIM) {
        if (x < width) tile[threadIdx.x] = idata[from + x];
        __syncthreads();
        const int y = blockIdx.x, mirror = x - int(threadIdx.x) + TILE_DIM - 1 - int(threadIdx.x);
        if (mirror < width) odata[size_t(mirror) * height + y] = tile[TILE_DIM - 1 - threadIdx.x];
    }
}

LAUNCHER(launchOrDecides) { barrierOrDecides<T><<<height, TILE_DIM>>>(odata, idata, width, height); }

KERNEL(barrierOrDecides, "-", transposes, launchOrDecides)

// Blocks that are full take a short way.
TRANSPOSING(barrierAndDecides)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;

    if (__syncthreads_and(i < n)) {
        tile[THREADS - 1 - threadIdx.x] = idata[i];
        __syncthreads();
        odata[size_t(blockIdx.x) * THREADS + THREADS - 1 - threadIdx.x] = tile[threadIdx.x];
    } else if (i < n) {
        odata[i] = idata[i];
    }
}

KERNEL(barrierAndDecides, "-", copies, launchAlong<barrierAndDecides<T>>)

// A barrier that counts the threads with an element. It orders stores and loads like any other.
TRANSPOSING(barrierCounts)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;

    if (i < n) tile[threadIdx.x] = idata[i];
    const int count = __syncthreads_count(i < n);
    const int mirror = count - 1 - int(threadIdx.x);
    if (mirror >= 0) odata[size_t(blockIdx.x) * THREADS + mirror] = tile[mirror];
}

KERNEL(barrierCounts, "-", copies, launchAlong<barrierCounts<T>>)

// Threads make one to five turns of a loop before they meet at the barrier.
TRANSPOSING(barrierAfterUnevenWork)
{
    __shared__ T tile[THREADS];
    __shared__ int visits[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;

    visits[threadIdx.x] = 0;
    for (unsigned turn = 0; turn <= threadIdx.x % 5; ++turn) {
        if (i < n) tile[threadIdx.x] = idata[i];
        ++visits[threadIdx.x];
    }
    __syncthreads();
    const int mirror = THREADS - 1 - threadIdx.x;
    const size_t o = size_t(blockIdx.x) * THREADS + mirror;
    if (o < n && visits[mirror] == mirror % 5 + 1) odata[o] = tile[mirror];
}

KERNEL(barrierAfterUnevenWork, "-", copies, launchAlong<barrierAfterUnevenWork<T>>)

// An endless loop that all threads leave in the same turn, between two barriers.
TRANSPOSING(barrierAndBreak)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height;

    for (size_t first = size_t(blockIdx.x) * THREADS;; first += size_t(gridDim.x) * THREADS) {
        if (first + threadIdx.x < n) tile[threadIdx.x] = idata[first + threadIdx.x];
        __syncthreads();
        const size_t o = first + (threadIdx.x ^ 3);
        if (o < n) odata[o] = tile[threadIdx.x ^ 3];
        if (first + size_t(gridDim.x) * THREADS >= n) break;
        __syncthreads();
    }
}

LAUNCHER(launchAndBreak) { barrierAndBreak<T><<<5, THREADS>>>(odata, idata, width, height); }

KERNEL(barrierAndBreak, "-", copies, launchAndBreak)
