// Threads that still run do not come to the barrier that the others wait at. They wait at another one, or for lanes of
// their warp. Each kernel makes this fault in another way.
#include "check.h"

constexpr int threads = 64;

__global__ void arms(int* out)
{
    const int i = threadIdx.x;
    if (i < 16) out[i] = __syncthreads_or(i == 3);
    else out[i] = __syncthreads_or(0);
}

__global__ void after_continue(int* out)
{
    const int i = threadIdx.x;
    for (int turn = 0; turn < 2; ++turn) {
        if (i >= 48) {
            __syncthreads();
            continue;
        }
        out[i] = turn;
        __syncthreads();
    }
}

__global__ void of_two_kinds(int* out)
{
    const int i = threadIdx.x;
    if (i == 5) out[i] = __syncthreads_count(1);
    else __syncthreads();
}

// The first threads have left. They are not those that are missing.
__global__ void others_left(int* out)
{
    const int i = threadIdx.x;
    if (i < 8) return;
    out[i] = i;
    if (i % 4 == 0) __syncthreads();
    else __syncthreads();
}

// In every block but the first, and in each by other numbers of threads.
__global__ void in_some_blocks(int* out)
{
    const int i = threadIdx.x;
    if (i < blockIdx.x * 8) __syncthreads();
    else __syncthreads();
    if (blockIdx.x == 0) out[i] = i;
}

// Half a warp waits for the other half, which waits at the barrier of the block.
__global__ void warp_and_block(int* out)
{
    const int i = threadIdx.x;
    if (i < 16) __syncthreads();
    else __syncwarp();
    out[i] = i;
}

// Each half of a warp names lanes of the other.
__global__ void halves_of_a_warp(int* out)
{
    const int i = threadIdx.x;
    if (i < 16) out[i] = __shfl_sync(0x0001ffff, i, 0);
    else out[i] = __shfl_sync(0xffff8000, i, 31);
}

// The lanes that do not come wait at several places.
__global__ void places_of_a_warp(int* out)
{
    const int i = threadIdx.x;
    if (i < 4) __syncthreads();
    else if (i < 8) out[i] = __shfl_sync(0xf0, i, 4);
    else if (i < 12) out[i] = __shfl_sync(0xffffff0f, i, 4);
    else __syncwarp();
    out[i] = i;
}

int main()
{
    int* out;
    CHECK(cudaMalloc(&out, threads * sizeof(int)));
    CHECK(cudaMemset(out, 0, threads * sizeof(int)));
    arms<<<1, threads>>>(out);
    after_continue<<<1, threads>>>(out);
    of_two_kinds<<<1, threads>>>(out);
    others_left<<<1, threads>>>(out);
    in_some_blocks<<<4, threads>>>(out);
    warp_and_block<<<1, 32>>>(out);
    halves_of_a_warp<<<1, 32>>>(out);
    places_of_a_warp<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
}
