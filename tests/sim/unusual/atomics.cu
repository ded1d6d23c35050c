// Atomic operations: on shared memory, and on variables of the device.

#include "unusual.h"

// One thread per element, in the order of memory.
template <auto kernel, typename T>
void launchAlong(T* odata, const T* idata, int width, int height)
{
    kernel<<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

// Blocks draw tiles from a counter until there are none left.
__device__ unsigned tickets_drawn;

__global__ void resetTickets() { tickets_drawn = 0; }

TRANSPOSING(ticketsForTiles)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    __shared__ unsigned ticket;
    const unsigned across = (width + TILE_DIM - 1) / TILE_DIM, tiles = across * ((height + TILE_DIM - 1) / TILE_DIM);

    for (;;) {
        if (threadIdx.x == 0 && threadIdx.y == 0) ticket = atomicAdd(&tickets_drawn, 1u);
        __syncthreads();
        const unsigned mine = ticket;
        if (mine >= tiles) return;
        const int left = mine % across * TILE_DIM, top = mine / across * TILE_DIM, c = threadIdx.x;
        for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
            if (left + c < width && top + r < height) tile[r][c] = idata[size_t(top + r) * width + left + c];
        __syncthreads();
        for (int r = threadIdx.y; r < TILE_DIM; r += BLOCK_ROWS)
            if (top + c < height && left + r < width) odata[size_t(left + r) * height + top + c] = tile[c][r];
    }
}

LAUNCHER(launchTicketsForTiles)
{
    resetTickets<<<1, 1>>>();
    ticketsForTiles<T><<<6, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(ticketsForTiles, "-", transposes, launchTicketsForTiles)

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

// Threads take places in shared memory in any order, and store there which element it was.
TRANSPOSING(placesInAnyOrder)
{
    __shared__ T values[THREADS];
    __shared__ int origin[THREADS], taken;
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;

    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    if (first + threadIdx.x < n) {
        const int place = atomicAdd(&taken, 1);
        values[place] = idata[first + threadIdx.x];
        origin[place] = threadIdx.x;
    }
    __syncthreads();
    if (int(threadIdx.x) < taken) odata[first + origin[threadIdx.x]] = values[threadIdx.x];
}

KERNEL(placesInAnyOrder, "-", copies, launchAlong<placesInAnyOrder<T>>)

// The first thread to arrive leads the block.
TRANSPOSING(firstComeLeads)
{
    __shared__ int leader;
    __shared__ T values[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;

    if (threadIdx.x == 0) leader = -1;
    __syncthreads();
    if (first + threadIdx.x < n) {
        values[threadIdx.x] = idata[first + threadIdx.x];
        atomicCAS(&leader, -1, int(threadIdx.x));
    }
    __syncthreads();
    if (int(threadIdx.x) == leader)
        for (int t = 0; t < THREADS && first + t < n; ++t) odata[first + t] = values[t];
}

KERNEL(firstComeLeads, "-", copies, launchAlong<firstComeLeads<T>>)

// A set of bits, one for each thread with an element; and the largest of their numbers.
TRANSPOSING(bitsAndMaximum)
{
    __shared__ unsigned bits[THREADS / 32];
    __shared__ int last;
    __shared__ T values[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int t = threadIdx.x;

    if (t < THREADS / 32) bits[t] = 0;
    if (t == THREADS - 1) last = -1;
    __syncthreads();
    if (first + t < n) {
        values[t] = idata[first + t];
        atomicOr(&bits[t / 32], 1u << t % 32);
        atomicMax(&last, t);
    }
    __syncthreads();
    const int mirror = last - t;
    if (mirror >= 0 && (bits[mirror / 32] >> mirror % 32 & 1)) odata[first + mirror] = values[mirror];
}

KERNEL(bitsAndMaximum, "-", copies, launchAlong<bitsAndMaximum<T>>)

// A list: each thread puts itself at its head. One thread walks along it.
TRANSPOSING(listOfThreads)
{
    __shared__ int head, next[THREADS];
    __shared__ T values[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;

    if (threadIdx.x == 0) head = -1;
    __syncthreads();
    if (first + threadIdx.x < n) {
        values[threadIdx.x] = idata[first + threadIdx.x];
        next[threadIdx.x] = atomicExch(&head, int(threadIdx.x));
    }
    __syncthreads();
    if (threadIdx.x == 64)
        for (int t = head; t >= 0; t = next[t]) odata[first + t] = values[t];
}

KERNEL(listOfThreads, "-", copies, launchAlong<listOfThreads<T>>)

// Elements are sorted by a key of eight values: counted, added up, placed.
TRANSPOSING(sortedByCounting)
{
    constexpr int KEYS = 8;
    __shared__ int counts[KEYS], begins[KEYS];
    __shared__ T values[THREADS];
    __shared__ short origin[THREADS];
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * THREADS;
    const int t = threadIdx.x, key = t * t % 7;
    const bool inside = first + t < n;

    if (t < KEYS) counts[t] = 0;
    __syncthreads();
    if (inside) atomicAdd(&counts[key], 1);
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < KEYS; ++k) {
            begins[k] = sum;
            sum += counts[k];
        }
    }
    __syncthreads();
    if (inside) {
        const int place = atomicAdd(&begins[key], 1);
        values[place] = idata[first + t];
        origin[place] = short(t);
    }
    __syncthreads();
    if (inside) odata[first + origin[t]] = values[t];
}

KERNEL(sortedByCounting, "-", copies, launchAlong<sortedByCounting<T>>)

// Threads take turns. A counter in shared memory says whose turn it is.
TRANSPOSING(turnsByACounter)
{
    __shared__ unsigned turn;
    __shared__ T value;
    const size_t n = size_t(width) * height, first = size_t(blockIdx.x) * 32;

    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
        if (threadIdx.x == turn && first + turn < n) value = idata[first + turn];
        __syncthreads();
        if (threadIdx.x == 31 - turn && first + turn < n) odata[first + turn] = value;
        __syncthreads();
        if (threadIdx.x == 5) atomicInc(&turn, 31u);
        __syncthreads();
    }
}

LAUNCHER(launchTurnsByACounter)
{
    turnsByACounter<T><<<pieces(size_t(width) * height, 32), 32>>>(odata, idata, width, height);
}

KERNEL(turnsByACounter, "-", copies, launchTurnsByACounter)
