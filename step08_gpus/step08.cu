// Step 8: a matrix on several GPUs.
//
//   make step08 && ./step08
//
// Each GPU has some rows of idata and needs some rows of odata. Most of its elements go to other GPUs, over links
// that carry a tenth of what its own memory does. The kernel is step 7's. It writes each tile into the memory of
// the GPU that needs it, in rows of whole lines. What is new is the order of the blocks: neighbours write to
// different GPUs, so that all links are busy at all times, and the tiles that stay here hide behind them.

#include "../common/step.h"

constexpr int LANES = 32, WARPS = 8;  // a block is WARPS warps, each of them a row of threads

template <typename T> constexpr int LINE = 128 / sizeof(T);  // elements

// Links carry lines of 128 bytes. Rows of odata may begin inside a line. Then tiles overlap by OVERLAP rows, as many as
// a line has elements. A block begins and ends each row of odata at a line. The peers' addresses stay where arguments
// are, in constant memory: without __grid_constant__, each thread would copy all 16 to its stack.
template <typename T, int HIGH, int OVERLAP>
__global__ void transposeToPeers(const __grid_constant__ Parts<T> odata, const T* idata, int width, int height, int me,
                                 int gpus)
{
    static_assert(HIGH % WARPS == 0 && (HIGH - OVERLAP) % LINE<T> == 0);
    __shared__ T tile[HIGH][LANES + 1];

    // Blocks that run together write to different GPUs, and each GPU begins with another: step 6's diagonals.
    int peer = (blockIdx.x + me) % gpus;

    int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);          // of idata, here
    int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);  // of odata, there

    int left = columns + blockIdx.y * LANES;
    int top = rows + int(blockIdx.x / gpus) * (HIGH - OVERLAP) - OVERLAP;

    int x = left + threadIdx.x;
    int y = top + threadIdx.y;

    // A store to the tile waits for its element, a load into a register does not: all loads are in flight at once.
    T in[HIGH / WARPS];
    for (int j = 0; j < HIGH; j += WARPS)
        if (x < columns_end && rows <= y + j && y + j < rows_end)
            in[j / WARPS] = idata[size_t(y + j - rows) * width + x];

    for (int j = 0; j < HIGH; j += WARPS)
        tile[threadIdx.y + j][threadIdx.x] = in[j / WARPS];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    y = left + threadIdx.y;

    for (int j = 0; j < LANES; j += WARPS) {
        size_t row = size_t(y + j - columns) * height;
        int first = OVERLAP ? LINE<T> - (row + top + OVERLAP) % LINE<T> : 0;  // where a line begins
        x = top + first + threadIdx.x;
        for (int i = 0; i < HIGH - OVERLAP; i += LANES)
            if (threadIdx.x + i < HIGH - OVERLAP && rows <= x + i && x + i < rows_end && y + j < columns_end)
                odata.part[peer][row + x + i] = tile[first + threadIdx.x + i][threadIdx.y + j];
    }
}

template <typename T, int HIGH, int OVERLAP>
void launchTiles(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    int rows = first_row(height, me + 1, gpus) - first_row(height, me, gpus);
    int columns = (width + gpus - 1) / gpus;  // of the GPU that has most
    dim3 grid(gpus * ((rows + HIGH - 1) / (HIGH - OVERLAP)), (columns + LANES - 1) / LANES);
    dim3 block(LANES, WARPS);
    if (rows > 0) transposeToPeers<T, HIGH, OVERLAP><<<grid, block>>>(odata, idata, width, height, me, gpus);
}

// Called for each GPU. What is loaded twice costs little: a GPU's own memory carries ten times what its links do.
template <typename T>
void launchToPeers(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    constexpr int HIGH = 256 / sizeof(T);  // 64 floats
    if (height % (gpus * LINE<T>) == 0)
        launchTiles<T, HIGH, 0>(odata, idata, width, height, me, gpus);
    else
        launchTiles<T, HIGH + LINE<T>, LINE<T>>(odata, idata, width, height, me, gpus);
}

KERNEL(transposeToPeers, "-", transposes, launchToPeers)
