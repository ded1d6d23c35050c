// Barriers, fences, and what a thread can do by itself.

#include <cassert>
#include <ctime>

#include "rows.h"

__global__ void predicates(int* out)
{
    const int i = threadIdx.x;
    const int count = __syncthreads_count(i % 3 == 0);
    const int all = __syncthreads_and(i < 100);
    const int not_all = __syncthreads_and(i != 77);
    const int any = __syncthreads_or(i == 77);
    const int none = __syncthreads_or(i == 100);
    if (i == 50) {
        out[0] = count;
        out[1] = all;
        out[2] = not_all;
        out[3] = any;
        out[4] = none;
    }
}

// Each warp reverses its part, with no barrier of the block.
__global__ void within_warps(int* out)
{
    __shared__ int tile[128];
    const unsigned lane = threadIdx.x % 32;
    for (int round = 0; round < 3; ++round) {
        tile[threadIdx.x] = int(threadIdx.x) + round;
        __syncwarp();
        out[threadIdx.x] = tile[threadIdx.x - lane + 31 - lane];
        __syncwarp();
    }
    if (lane < 16) {
        tile[threadIdx.x] = 5;
        __syncwarp(0x0000ffff);
        out[threadIdx.x] += tile[threadIdx.x ^ 15];
    }
}

__global__ void clocks(int* out)
{
    const long long begin = clock64();
    const clock_t begin_too = clock();
    __shared__ volatile int x[32];
    for (int i = 0; i < 100; ++i) x[threadIdx.x] = i;
    __nanosleep(20);
    if (threadIdx.x != 0) return;
    out[0] = clock64() > begin;
    out[1] = clock() - begin_too != 0;
}

// Thread 0 waits until the last thread of the block, of another warp, sets the flag.
__global__ void flag(int* out)
{
    __shared__ int raised;
    if (threadIdx.x == 0) raised = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicAdd(&raised, 0) == 0) __nanosleep(100);
        out[0] = 1;
    }
    if (threadIdx.x == blockDim.x - 1) atomicExch(&raised, 1);
}

__device__ int divided(int a, int b)
{
    assert(b != 0);
    __builtin_assume(b > 0);
    if (b == 0) __trap();
    return a / b;
}

__global__ void asserts(int* out) { out[0] = divided(7, 2); }

__global__ void kinds(int* out)
{
    __shared__ int tile[4];
    extern __shared__ int partial[];
    int local[4] = {int(threadIdx.x), 1, 2, 3};
    int* const pointer = local + out[9];
    out[0] = __isShared(tile + 1) != 0;
    out[1] = __isShared(partial) != 0;
    out[2] = __isShared(out) != 0;
    out[3] = __isGlobal(out) != 0;
    out[4] = __isGlobal(tile) != 0;
    out[5] = __isLocal(pointer) != 0;
    out[6] = __isLocal(tile) != 0;
    out[7] = int(__cvta_generic_to_shared(tile + 3) - __cvta_generic_to_shared(tile));
    out[8] = *pointer;
}

__global__ void greet(int n)
{
    if (threadIdx.x == 0) printf("thread %d of %u: %.1f %s %lld\n", n, blockDim.x, 2.5, "text", 1ll << 40);
}

int main()
{
    Array<int> out(128);
    predicates<<<1, 100>>>(out.device());
    row("barriers: __syncthreads_count, _and, _or", out.is({34, 1, 0, 1, 0}));

    std::vector<int> expected(128);
    for (int i = 0; i < 128; ++i) expected[i] = (i / 32 * 32 + 31 - i % 32) + 2 + (i % 32 < 16 ? 5 : 0);
    within_warps<<<1, 128>>>(out.device());
    row("barriers: __syncwarp", out.is(expected));

    Array<int> few(10);
    clocks<<<1, 32>>>(few.device());
    row("threads: clock, clock64, __nanosleep", few.is({1, 1}) && std::clock() != clock_t(-1));

    Array<int> raised(1);
    flag<<<1, 96>>>(raised.device());
    row("threads: waiting for a flag", raised.is({1}));

    asserts<<<1, 1>>>(few.device());
    row("threads: assert, __trap, __builtin_assume", few.is({3}));

    Array<int> kind(10);
    kinds<<<1, 1, 64>>>(kind.device());
    row("threads: __isShared, __isGlobal, __isLocal, __cvta_generic_to_shared", kind.is({1, 1, 0, 1, 0, 1, 0, 12, 0}));

    greet<<<1, 32>>>(3);
    row("threads: printf", cudaDeviceSynchronize() == cudaSuccess);
    return wrong_rows() != 0;
}
