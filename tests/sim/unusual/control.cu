// Guards at the edge of the matrix, barriers under conditions that hold for the whole block, and threads that are done
// before the others.

#include "unusual.h"

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

// Threads without an element return before the barrier that the others wait at.
TRANSPOSING(exitsOfThreads)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int count = n - first < THREADS ? int(n - first) : THREADS;
    const int t = threadIdx.x;

    if (t >= count) return;
    tile[t] = idata[first + t];
    __syncthreads();
    odata[first + count - 1 - t] = tile[count - 1 - t];
}

KERNEL(exitsOfThreads, "-", copies, launchAlong<exitsOfThreads<T>>)

// One warp after the other leaves a loop of barriers, each after a turn more.
TRANSPOSING(exitsTurnByTurn)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS, i = first + threadIdx.x;

    if (i < n) tile[threadIdx.x] = idata[i];
    for (int turn = 0; turn < THREADS / 32; ++turn) {
        __syncthreads();
        if (int(threadIdx.x) / 32 == turn) {
            const int mirror = THREADS - 1 - threadIdx.x;  // of a warp that leaves later, or has left
            if (first + mirror < n) odata[first + mirror] = tile[mirror];
            return;
        }
    }
}

KERNEL(exitsTurnByTurn, "-", copies, launchAlong<exitsTurnByTurn<T>>)

// One thread stays and stores what all have loaded.
TRANSPOSING(exitsAllButAThread)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;

    if (first + threadIdx.x < n) tile[threadIdx.x] = idata[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x != 37) return;
    for (int i = 0; i < THREADS && first + i < n; ++i) odata[first + i] = tile[i];
}

KERNEL(exitsAllButAThread, "-", copies, launchAlong<exitsAllButAThread<T>>)
