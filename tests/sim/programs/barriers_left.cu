// Threads that have left the kernel need not come to a barrier. From compute capability 7.0 on, it waits for all that
// have not left, so the results are right. Where lanes pass a barrier by that others of their warp wait at, and come to
// the end of the kernel, there is a finding: CUDA allows a condition around a barrier only if it is the same for all.
#include "check.h"

#include <cooperative_groups.h>

constexpr int threads = 64;

// Threads make different numbers of turns of a loop with a barrier, and then come to the end of the kernel.
__global__ void turns(int* out)
{
    const int i = threadIdx.x;
    int mine = 0;
    while (mine < i % 4) {
        mine++;
        __syncthreads();  // turns
    }
    out[i] = mine;
}

// The kernel is one branch. The other threads have nothing to do.
__global__ void one_branch(int* out, int n)
{
    __shared__ int part[threads];
    const int i = threadIdx.x;
    if (i < n) {
        part[i] = i;
        __syncthreads();  // one_branch
        out[i] = part[n - 1 - i];
    }
}

// Whole warps have nothing to do.
__global__ void one_warp(int* out)
{
    __shared__ int part[threads];
    const int i = threadIdx.x;
    if (i / 32 == 1) {
        part[i] = i;
        __syncthreads();  // one_warp
        out[i] = part[i ^ 1];
    }
}

__device__ int meet(int value)
{
    __syncthreads();  // in_a_function
    return value + 1;
}

// The barrier is in a function, and what it returns is stored.
__global__ void in_a_function(int* out)
{
    const int i = threadIdx.x;
    if (i >= 20 && i < 50) out[i] = meet(i);
}

__global__ void of_groups(int* out)
{
    const cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
    const int i = block.thread_rank();
    out[i] = 0;
    if (i % 8 < 5) {
        block.sync();  // of_groups
        out[i] = i;
    }
}

// Lanes that have left are not waited for either.
__global__ void lanes(int* out)
{
    __shared__ int part[threads];
    const int i = threadIdx.x;
    if (i % 2 == 0) {
        part[i] = i;
        __syncwarp();
        out[i] = part[i ^ 2];
    }
}

// To the end by goto.
template <bool even>
__global__ void by_goto(int* out)
{
    const int i = threadIdx.x;
    if (i % 2 == even) goto end;
    out[i] = i;
    __syncthreads();  // by_goto
    out[i] += 1;
end:;
}

int right = 0, tried = 0;
int *d_out, out[threads];

template <typename Kernel, typename Expected, typename... Arguments>
void look(const char* name, Kernel kernel, Expected expected, Arguments... arguments)
{
    CHECK(cudaMemset(d_out, 0, sizeof out));
    kernel<<<1, threads>>>(d_out, arguments...);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    bool same = true;
    for (int i = 0; i < threads; ++i) same = same && (expected(i) < 0 || out[i] == expected(i));
    if (!same) std::printf("%s: wrong\n", name);
    right += same;
    ++tried;
}

int main()
{
    CHECK(cudaMalloc(&d_out, sizeof out));
    look("turns", turns, [](int i) { return i % 4; });
    look("one_branch", one_branch, [](int i) { return i < 20 ? 19 - i : 0; }, 20);
    look("one_warp", one_warp, [](int i) { return i < 32 ? 0 : i ^ 1; });
    look("in_a_function", in_a_function, [](int i) { return i >= 20 && i < 50 ? i + 1 : 0; });
    look("of_groups", of_groups, [](int i) { return i % 8 < 5 ? i : 0; });
    look("lanes", lanes, [](int i) { return i % 2 ? 0 : i ^ 2; });
    look("by_goto", by_goto<true>, [](int i) { return i % 2 ? 0 : i + 1; });
    look("by_goto", by_goto<false>, [](int i) { return i % 2 ? i + 1 : 0; });
    CHECK(cudaFree(d_out));
    if (right == tried) std::printf("PASSED\n");
}
