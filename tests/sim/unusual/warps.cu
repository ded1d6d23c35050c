// Threads of one warp that work together without a barrier of the block.

#include "unusual.h"

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffffu;

// One thread per element, in the order of memory.
template <auto kernel, typename T>
void launchAlong(T* odata, const T* idata, int width, int height)
{
    kernel<<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

// One warp per tile, `warps` of them in a block, for tiles side by side.
template <auto kernel, int warps, typename T>
void launchWarps(T* odata, const T* idata, int width, int height)
{
    dim3 grid(pieces(width, TILE_DIM * warps), pieces(height, TILE_DIM));
    kernel<<<grid, dim3(WARP, warps)>>>(odata, idata, width, height);
}

// Each warp has its own tile, and waits for its own lanes only.
TRANSPOSING(warpWithItsTile)
{
    __shared__ T tiles[4][TILE_DIM][TILE_DIM + 1];
    T(*const tile)[TILE_DIM + 1] = tiles[threadIdx.y];
    const int left = (blockIdx.x * 4 + threadIdx.y) * TILE_DIM, top = blockIdx.y * TILE_DIM, lane = threadIdx.x;

    for (int r = 0; r < TILE_DIM; ++r)
        if (left + lane < width && top + r < height) tile[r][lane] = idata[size_t(top + r) * width + left + lane];
    __syncwarp();
    for (int r = 0; r < TILE_DIM; ++r)
        if (top + lane < height && left + r < width) odata[size_t(left + r) * height + top + lane] = tile[lane][r];
}

LAUNCHER(launchWithItsTile) { launchWarps<warpWithItsTile<T>, 4>(odata, idata, width, height); }

KERNEL(warpWithItsTile, "-", transposes, launchWithItsTile)

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

// Volatile cells, and one __syncwarp() between store and load.
TRANSPOSING(warpVolatile)
{
    __shared__ T cells[THREADS];
    volatile T* const cell = cells;
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x, mirror = i ^ 31;

    if (mirror < n) cell[threadIdx.x] = idata[mirror];
    __syncwarp();
    if (i < n) odata[i] = cell[threadIdx.x ^ 31];
}

KERNEL(warpVolatile, "-", copies, launchAlong<warpVolatile<T>>)

// The halves of a warp part, and each half has barriers for itself.
TRANSPOSING(warpHalfBarriers)
{
    __shared__ T cells[THREADS];
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x, mirror = i ^ 15;

    if (threadIdx.x % WARP < 16) {
        if (mirror < n) cells[threadIdx.x] = idata[mirror];
        __syncwarp(0x0000ffffu);
        if (i < n) odata[i] = cells[threadIdx.x ^ 15];
    } else {
        if (i < n) cells[threadIdx.x] = idata[i];
        __syncwarp(0xffff0000u);
        if (mirror < n) odata[mirror] = cells[threadIdx.x ^ 15];
    }
}

KERNEL(warpHalfBarriers, "-", copies, launchAlong<warpHalfBarriers<T>>)

// A tile of 32 x 32 in the registers of a warp, transposed by 32 shuffles: in turn k a lane gets
// its element of the lane k further on. The array is indexed at run time.
TRANSPOSING(shuffleInTurns)
{
    const int left = blockIdx.x * TILE_DIM, top = blockIdx.y * TILE_DIM, lane = threadIdx.x;
    T column[WARP], row[WARP];

    for (int r = 0; r < WARP; ++r)
        column[r] = left + lane < width && top + r < height ? idata[size_t(top + r) * width + left + lane] : T(0);
    for (int k = 0; k < WARP; ++k) {
        const int from = (lane + k) % WARP;
        row[from] = __shfl_sync(ALL, column[(lane - k + WARP) % WARP], from);
    }
    for (int c = 0; c < WARP; ++c)
        if (top + lane < height && left + c < width) odata[size_t(left + c) * height + top + lane] = row[c];
}

LAUNCHER(launchShuffleInTurns) { launchWarps<shuffleInTurns<T>, 1>(odata, idata, width, height); }

KERNEL(shuffleInTurns, "-", transposes, launchShuffleInTurns)

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

// Elements go one lane up and one lane down again, around the ends.
TRANSPOSING(shuffleUpAndDown)
{
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const int lane = threadIdx.x % WARP;

    T element = i < n ? idata[i] : T(0);
    const T below = __shfl_up_sync(ALL, element, 1), last = __shfl_sync(ALL, element, WARP - 1);
    element = lane == 0 ? last : below;
    const T above = __shfl_down_sync(ALL, element, 1), first = __shfl_sync(ALL, element, 0);
    element = lane == WARP - 1 ? first : above;
    if (i < n) odata[i] = element;
}

KERNEL(shuffleUpAndDown, "-", copies, launchAlong<shuffleUpAndDown<T>>)

// Only the lanes that have an element take part in the shuffle.
TRANSPOSING(shuffleAmongSome)
{
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const unsigned taking_part = __ballot_sync(ALL, i < n);

    if (i < n) {
        const int lane = threadIdx.x % WARP, mirror = __popc(taking_part) - 1 - lane;
        const T element = idata[i - lane + mirror];
        odata[i] = __shfl_sync(taking_part, element, mirror);
    }
}

KERNEL(shuffleAmongSome, "-", copies, launchAlong<shuffleAmongSome<T>>)

// The halves of a warp shuffle in different branches; lanes of even and odd number, in others.
TRANSPOSING(shuffleInBranches)
{
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const int lane = threadIdx.x % WARP;
    T element = i < n ? idata[i] : T(0);

    if (lane < 16) element = __shfl_sync(0x0000ffffu, element, 15 - lane, 16);
    else element = __shfl_sync(0xffff0000u, element, 31 - lane, 16);
    if (lane % 2) element = __shfl_xor_sync(0xaaaaaaaau, element, 14);
    else element = __shfl_xor_sync(0x55555555u, element, 14);
    element = __shfl_xor_sync(ALL, element, 1, 2);  // 15 ^ 14 ^ 1 is 0
    if (i < n) odata[i] = element;
}

KERNEL(shuffleInBranches, "-", copies, launchAlong<shuffleInBranches<T>>)

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

// The lanes vote on the way to take.
TRANSPOSING(votesOnTheWay)
{
    const size_t n = size_t(width) * height, i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    const int lane = threadIdx.x % WARP;

    if (__all_sync(ALL, i < n)) {
        const T element = idata[i - lane + (lane ^ 7)];
        odata[i] = __shfl_sync(ALL, element, lane ^ 7);
    } else if (__any_sync(ALL, i < n)) {
        if (i < n) odata[i] = idata[i];
    }
}

KERNEL(votesOnTheWay, "-", copies, launchAlong<votesOnTheWay<T>>)

// The first lane that has an element works out where the warp stores.
TRANSPOSING(leaderOfTheWarp)
{
    const int x = blockIdx.x * WARP + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned inside = __ballot_sync(ALL, x < width && y < height);
    const int leader = __ffs(inside) - 1;

    unsigned long long row = 0;
    if (int(threadIdx.x) == leader) row = static_cast<unsigned long long>(y) * width;
    row = __shfl_sync(ALL, row, leader < 0 ? 0 : leader);
    if (x < width && y < height) odata[size_t(x) * height + y] = idata[row + x];
}

LAUNCHER(launchLeaderOfTheWarp)
{
    leaderOfTheWarp<T><<<dim3(pieces(width, WARP), pieces(height, 4)), dim3(WARP, 4)>>>(odata, idata, width, height);
}

KERNEL(leaderOfTheWarp, "-", transposes, launchLeaderOfTheWarp)

// Sums over the warp by shuffles, and over the block through shared memory: how many elements the
// block has, and where the warps' pieces of it begin.
TRANSPOSING(shuffleSums)
{
    __shared__ int begins[THREADS / WARP + 1];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    int sum = first + threadIdx.x < n;
    for (int distance = WARP / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(ALL, sum, distance);
    if (lane == 0) begins[warp + 1] = sum;
    if (threadIdx.x == 0) begins[0] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w <= THREADS / WARP; ++w) begins[w] += begins[w - 1];
    __syncthreads();
    const int o = begins[warp] + lane;
    if (o < begins[warp + 1]) odata[first + o] = idata[first + o];
}

KERNEL(shuffleSums, "-", copies, launchAlong<shuffleSums<T>>)
