// Elements moved as something else, threads of one warp that work together without a barrier of the block, and atomic
// operations.

#include "unusual.h"

// float4, whatever the elements are. The elements behind the last whole vector follow one by one.
TRANSPOSING(asFloat4)
{
    constexpr int N = 16 / sizeof(T);
    const size_t n = size_t(width) * height, vectors = n / N, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < vectors) reinterpret_cast<float4*>(odata)[i] = reinterpret_cast<const float4*>(idata)[i];
    if (i < n - vectors * N) odata[vectors * N + i] = idata[vectors * N + i];
}

KERNEL(asFloat4, "-", copies, launchAlong<asFloat4<T>>)

// Up to eight elements by one memcpy, whose size is known at run time only, by way of an array of
// the thread's own.
TRANSPOSING(eightByMemcpy)
{
    const size_t n = size_t(width) * height, i = 8 * (size_t(blockIdx.x) * THREADS + threadIdx.x);
    if (i >= n) return;
    const size_t count = n - i < 8 ? n - i : 8;
    T eight[8];
    memcpy(eight, idata + i, count * sizeof(T));
    memcpy(odata + i, eight, count * sizeof(T));
}

LAUNCHER(launchEightByMemcpy)
{
    eightByMemcpy<T><<<pieces(size_t(width) * height, 8 * THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(eightByMemcpy, "-", copies, launchEightByMemcpy)

// A tile of bytes in shared memory: each element is taken apart and put together.
TRANSPOSING(asBytesInShared)
{
    __shared__ unsigned char planes[sizeof(T)][THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const size_t mirror = size_t(blockIdx.x) * THREADS + THREADS - 1 - threadIdx.x;

    if (i < n) {
        const T element = idata[i];
        for (unsigned b = 0; b < sizeof(T); ++b)
            planes[b][threadIdx.x] = reinterpret_cast<const unsigned char*>(&element)[b];
    }
    __syncthreads();
    if (mirror < n) {
        T element;
        for (unsigned b = 0; b < sizeof(T); ++b)
            reinterpret_cast<unsigned char*>(&element)[b] = planes[b][THREADS - 1 - threadIdx.x];
        odata[mirror] = element;
    }
}

KERNEL(asBytesInShared, "-", copies, launchAlong<asBytesInShared<T>>)

// A thread's own array, filled in one order and emptied in another, both known at run time only.
TRANSPOSING(ownArray)
{
    T own[8];
    const int x = blockIdx.x * 64 + threadIdx.x, top = blockIdx.y * 8;
    if (x >= width) return;
    const int rows = min(8, height - top), shift = x % rows;

    for (int k = 0; k < rows; ++k) own[(k + shift) % rows] = idata[size_t(top + k) * width + x];
    for (int k = rows - 1; k >= 0; --k) odata[size_t(x) * height + top + k] = own[(k + shift) % rows];
}

LAUNCHER(launchOwnArray)
{
    ownArray<T><<<dim3(pieces(width, 64), pieces(height, 8)), 64>>>(odata, idata, width, height);
}

KERNEL(ownArray, "-", transposes, launchOwnArray)

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;

// One warp per tile, `warps` of them in a block, for tiles side by side.
template <auto kernel, int warps, typename T>
void launchWarps(T* odata, const T* idata, int width, int height)
{
    dim3 grid(pieces(width, TILE_DIM * warps), pieces(height, TILE_DIM));
    kernel<<<grid, dim3(WARP, warps)>>>(odata, idata, width, height);
}

// A warp walks along a row of tiles: one __syncwarp() when the tile is full, one when it is empty.
TRANSPOSING(warpWalks)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    const int top = blockIdx.x * TILE_DIM, lane = threadIdx.x;

    for (int left = 0; left < width; left += TILE_DIM) {
        for (int r = 0; r < TILE_DIM && top + r < height; ++r)
            if (left + lane < width) tile[r][lane] = idata[size_t(top + r) * width + left + lane];
        __syncwarp();
        for (int r = 0; r < TILE_DIM && left + r < width; ++r)
            if (top + lane < height) odata[size_t(left + r) * height + top + lane] = tile[lane][r];
        __syncwarp();
    }
}

LAUNCHER(launchWarpWalks) { warpWalks<T><<<pieces(height, TILE_DIM), WARP>>>(odata, idata, width, height); }

KERNEL(warpWalks, "-", transposes, launchWarpWalks)

// The same by halves, quarters, eighths: five rounds of exchanges with the lane one bit away.
TRANSPOSING(shuffleByBits)
{
    const int left = (blockIdx.x * 2 + threadIdx.y) * TILE_DIM, top = blockIdx.y * TILE_DIM, lane = threadIdx.x;
    T a[WARP];

#pragma unroll
    for (int r = 0; r < WARP; ++r)
        a[r] = left + lane < width && top + r < height ? idata[size_t(top + r) * width + left + lane] : T(0);
#pragma unroll
    for (int bit = WARP / 2; bit > 0; bit /= 2)
#pragma unroll
        for (int r = 0; r < WARP; ++r)
            if (!(r & bit)) {
                const bool upper = lane & bit;
                const T got = __shfl_xor_sync(ALL, upper ? a[r] : a[r | bit], bit);
                if (upper) a[r] = got;
                else a[r | bit] = got;
            }
#pragma unroll
    for (int c = 0; c < WARP; ++c)
        if (top + lane < height && left + c < width) odata[size_t(left + c) * height + top + lane] = a[c];
}

LAUNCHER(launchShuffleByBits) { launchWarps<shuffleByBits<T>, 2>(odata, idata, width, height); }

KERNEL(shuffleByBits, "-", transposes, launchShuffleByBits)

// Lanes that have returned take no part: the mask names the others.
TRANSPOSING(shuffleAfterExits)
{
    const int x = blockIdx.x * WARP + threadIdx.x, y = blockIdx.y;
    const unsigned staying = __ballot_sync(ALL, x < width);
    if (x >= width) return;
    const int lane = threadIdx.x, next = (lane + 1) % __popc(staying);
    const T element = __shfl_sync(staying, idata[size_t(y) * width + x], next);
    odata[size_t(x - lane + next) * height + y] = element;
}

LAUNCHER(launchShuffleAfterExits)
{
    shuffleAfterExits<T><<<dim3(pieces(width, WARP), height), WARP>>>(odata, idata, width, height);
}

KERNEL(shuffleAfterExits, "-", transposes, launchShuffleAfterExits)

// A ballot says which lanes have chosen elements; they are packed and stored side by side.
TRANSPOSING(ballotPacks)
{
    __shared__ T packed[THREADS / WARP][WARP];
    __shared__ int origin[THREADS / WARP][WARP];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const bool chosen = i < n && lane * lane % 5 == 1;

    const unsigned which = __ballot_sync(ALL, chosen);
    const int place = __popc(which & ((1u << lane) - 1));
    if (chosen) {
        packed[warp][place] = idata[i];
        origin[warp][place] = lane;
    } else if (i < n) {
        odata[i] = idata[i];
    }
    __syncwarp();
    if (lane < __popc(which)) odata[i - lane + origin[warp][lane]] = packed[warp][lane];
}

KERNEL(ballotPacks, "-", copies, launchAlong<ballotPacks<T>>)

// The last block to finish moves the elements at the end, which all blocks leave out.
__device__ unsigned blocks_done;

__global__ void resetBlocksDone() { blocks_done = 0; }

TRANSPOSING(lastBlockFinishes)
{
    __shared__ bool last;
    const size_t n = size_t(width) * height, whole = n / THREADS * THREADS,
                 i = size_t(blockIdx.x) * THREADS + threadIdx.x;

    if (i < whole) odata[i] = idata[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last && whole + threadIdx.x < n) odata[whole + threadIdx.x] = idata[whole + threadIdx.x];
}

LAUNCHER(launchLastBlockFinishes)
{
    resetBlocksDone<<<1, 1>>>();
    lastBlockFinishes<T><<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

KERNEL(lastBlockFinishes, "-", copies, launchLastBlockFinishes)
