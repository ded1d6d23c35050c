// Cooperative groups: the block as a group, and warps or parts of warps as tiles of it.

#include <cooperative_groups.h>

#include "unusual.h"

namespace cg = cooperative_groups;

// One thread per element, in the order of memory.
template <auto kernel, typename T>
void launchAlong(T* odata, const T* idata, int width, int height)
{
    kernel<<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

// The barrier of the block, both ways to write it.
TRANSPOSING(groupOfTheBlock)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    const cg::thread_block block = cg::this_thread_block();
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, c = threadIdx.x;

    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (left + c < width && top + r < height) tile[r][c] = idata[size_t(top + r) * width + left + c];
    cg::sync(block);
    for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
        if (top + c < height && left + r < width) odata[size_t(left + r) * height + top + c] = tile[c][r];
    block.sync();
}

LAUNCHER(launchGroupOfTheBlock)
{
    dim3 grid(pieces(width, TILE_DIM), pieces(height, TILE_DIM));
    groupOfTheBlock<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(groupOfTheBlock, "-", transposes, launchGroupOfTheBlock)

// The number of a thread in a block of two dimensions.
TRANSPOSING(groupNumbersThreads)
{
    __shared__ T tile[THREADS];
    const cg::thread_block block = cg::this_thread_block();
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * block.size();
    const unsigned t = block.thread_rank(), mirror = block.size() - 1 - t;

    if (first + t < n) tile[t] = idata[first + t];
    block.sync();
    if (first + mirror < n) odata[first + mirror] = tile[mirror];
}

LAUNCHER(launchGroupNumbersThreads)
{
    groupNumbersThreads<T><<<pieces(size_t(width) * height, THREADS), dim3(16, 8)>>>(odata, idata, width, height);
}

KERNEL(groupNumbersThreads, "-", copies, launchGroupNumbersThreads)

// A warp as a tile of 32 threads that shuffles.
TRANSPOSING(groupShuffles)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const int lane = warp.thread_rank();
    const size_t mirror = i - lane + 31 - lane;

    T element = mirror < n ? idata[mirror] : T(0);
    element = warp.shfl(element, 31 - lane);
    if (i < n) odata[i] = element;
}

KERNEL(groupShuffles, "-", copies, launchAlong<groupShuffles<T>>)

// A warp that waits for its lanes only.
TRANSPOSING(groupWaits)
{
    __shared__ T tiles[2][TILE_DIM][TILE_DIM + 1];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    T(*const tile)[TILE_DIM + 1] = tiles[threadIdx.y];
    const int left = (blockIdx.x * 2 + threadIdx.y) * TILE_DIM, top = blockIdx.y * TILE_DIM, lane = warp.thread_rank();

    for (unsigned r = 0; r < warp.size(); ++r)
        if (left + lane < width && top + int(r) < height) tile[r][lane] = idata[size_t(top + r) * width + left + lane];
    warp.sync();
    for (unsigned r = 0; r < warp.size(); ++r)
        if (top + lane < height && left + int(r) < width) odata[size_t(left + r) * height + top + lane] = tile[lane][r];
}

LAUNCHER(launchGroupWaits)
{
    groupWaits<T><<<dim3(pieces(width, 2 * TILE_DIM), pieces(height, TILE_DIM)), dim3(TILE_DIM, 2)>>>(odata, idata,
                                                                                                      width, height);
}

KERNEL(groupWaits, "-", transposes, launchGroupWaits)
