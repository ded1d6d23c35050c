// Lanes of one warp that have pointers to different memory, of one device and of two. Nothing is wrong.
#include <cstdio>

#include "check.h"

__global__ void increment(int* a, int* b)
{
    int* const data = threadIdx.x < 16 ? a : b;
    data[threadIdx.x] += 1;
}

int main()
{
    int gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    int *a, *b, h[32], wrong = 0;
    CHECK(cudaMalloc(&a, 32 * sizeof(int)));
    CHECK(cudaSetDevice(gpus - 1));
    CHECK(cudaMalloc(&b, 1 << 20));
    CHECK(cudaMemset(b, 0, 1 << 20));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemset(a, 0, 32 * sizeof(int)));
    if (gpus > 1) CHECK(cudaDeviceEnablePeerAccess(gpus - 1, 0));
    increment<<<1, 32>>>(a, b);
    increment<<<1, 32>>>(b, a);
    CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
    for (int value : h) wrong += value != 1;
    CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
    for (int value : h) wrong += value != 1;
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
