// Launches without <<< >>>: cudaLaunchKernel and cudaLaunchKernelEx. Nothing is wrong.
#include <cstdio>

#include "check.h"

__global__ void set(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value + int(threadIdx.x); }

template <typename T>
__global__ void add(T* data, T value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

int main()
{
    const int n = 64;
    int h[n], *d, value = 10;
    CHECK(cudaMalloc(&d, sizeof h));
    void* arguments[] = {&d, &value};
    CHECK(cudaLaunchKernel(set, dim3(2), dim3(32), arguments, 0, 0));
    CHECK(cudaLaunchKernel(add<int>, dim3(2), dim3(32), arguments, 0, 0));
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(1);
    configuration.blockDim = dim3(n);
    CHECK(cudaLaunchKernelEx(&configuration, add<int>, d, 5));
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += h[i] != 25 + i % 32;
    CHECK(cudaFree(d));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
