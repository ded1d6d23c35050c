// One kernel that takes minutes. Nothing is wrong.
#include <cstdio>

#include "check.h"

// ./long_kernel: many blocks; ./long_kernel 1: a single thread, which calls itself and comes to no loop.
__global__ void add(int* data, int outer, int inner)
{
    for (int i = 0; i < outer; ++i)
        for (int k = 0; k < inner; ++k) data[blockIdx.x * blockDim.x + threadIdx.x] += k;
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void recurse(int* data, int n) { data[0] = fibonacci(n); }

int main(int argc, char**)
{
    int* d_data;
    CHECK(cudaMalloc(&d_data, 4096 * 256 * sizeof(int)));
    CHECK(cudaMemset(d_data, 0, 4096 * 256 * sizeof(int)));
    printf("begun\n");
    fflush(stdout);
    if (argc > 1) recurse<<<1, 1>>>(d_data, 60);
    else add<<<4096, 256>>>(d_data, 100, 100);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_data));
}
