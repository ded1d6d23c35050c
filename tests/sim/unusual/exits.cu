// Threads and warps that are done before the others. From compute capability 7.0 on, a barrier
// waits for the threads that have not returned.

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

// No barrier at all.
TRANSPOSING(exitsAtOnce)
{
    const int x = blockIdx.x * TILE_DIM + threadIdx.x;
    if (x >= width) return;
    for (int j = threadIdx.y; j < TILE_DIM; j += BLOCK_ROWS) {
        const int y = blockIdx.y * TILE_DIM + j;
        if (y >= height) return;
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
    }
}

KERNEL(exitsAtOnce, "-", transposes, launchTiles<exitsAtOnce<T>>)

// After the last barrier, by threads and in a loop.
TRANSPOSING(exitsAfterTheBarrier)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    if (x >= height) return;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (y + j >= width) return;
        odata[size_t(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
    }
}

KERNEL(exitsAfterTheBarrier, "-", transposes, launchTiles<exitsAfterTheBarrier<T>>)

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

// Whole warps return before the barrier: those whose rows are below the matrix.
TRANSPOSING(exitsOfWarps)
{
    __shared__ T tile[BLOCK_ROWS][TILE_DIM];
    const int x = blockIdx.x * TILE_DIM + threadIdx.x;
    const int y = blockIdx.y * BLOCK_ROWS + threadIdx.y;
    const int rows = min(BLOCK_ROWS, height - int(blockIdx.y) * BLOCK_ROWS);

    if (y >= height) return;
    if (x < width) tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];
    __syncthreads();
    const int r = rows - 1 - threadIdx.y;
    if (x < width) odata[size_t(x) * height + blockIdx.y * BLOCK_ROWS + r] = tile[r][threadIdx.x];
}

LAUNCHER(launchExitsOfWarps)
{
    dim3 grid(pieces(width, TILE_DIM), pieces(height, BLOCK_ROWS));
    exitsOfWarps<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(exitsOfWarps, "-", transposes, launchExitsOfWarps)

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

// One warp stays, and is alone at the barrier.
TRANSPOSING(exitsAllButAWarp)
{
    __shared__ T tile[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;

    if (threadIdx.x >= 32) return;
    for (int i = threadIdx.x; i < THREADS; i += 32)
        if (first + i < n) tile[i] = idata[first + i];
    __syncthreads();
    for (int i = THREADS - 1 - threadIdx.x; i >= 0; i -= 32)
        if (first + i < n) odata[first + i] = tile[i];
}

KERNEL(exitsAllButAWarp, "-", copies, launchAlong<exitsAllButAWarp<T>>)

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

// The grid is too large: blocks without a row return as a whole.
TRANSPOSING(exitsOfBlocks)
{
    __shared__ T row[THREADS];
    const int y = blockIdx.x;
    if (y >= height) return;
    for (int left = 0; left < width; left += THREADS) {
        const int x = left + threadIdx.x, mirror = left + THREADS - 1 - threadIdx.x;
        if (x < width) row[threadIdx.x] = idata[size_t(y) * width + x];
        __syncthreads();
        if (mirror < width) odata[size_t(mirror) * height + y] = row[THREADS - 1 - threadIdx.x];
        __syncthreads();
    }
}

LAUNCHER(launchExitsOfBlocks) { exitsOfBlocks<T><<<height + 7, THREADS>>>(odata, idata, width, height); }

KERNEL(exitsOfBlocks, "-", transposes, launchExitsOfBlocks)
