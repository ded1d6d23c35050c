// Lets the runtime choose the block, and asks for more shared memory than 48 KB. Nothing is wrong.
#include <cstdio>

#include "check.h"

__global__ void square(int* data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= data[i];
}

__global__ void reverse(int* data, int n)
{
    extern __shared__ int buffer[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = buffer[n - 1 - i];
}

int main()
{
    const int n = 16000;
    int *h = new int[n], *d;
    for (int i = 0; i < n; ++i) h[i] = i;
    CHECK(cudaMalloc(&d, n * sizeof(int)));
    CHECK(cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice));
    int grid = 0, block = 0, blocks = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, square, 0, n));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, square, block, 0));
    printf("suggested: %d blocks of %d threads, %d on a multiprocessor\n", grid, block, blocks);
    square<<<(n + block - 1) / block, block>>>(d, n);
    CHECK(cudaGetLastError());
    const size_t bytes = n * sizeof(int);
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reverse));
    reverse<<<1, 256, bytes>>>(d, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost));
    int wrong = grid * block < 1 || attributes.maxDynamicSharedSizeBytes != (int)bytes;
    for (int i = 0; i < n; ++i) wrong += h[i] != (n - 1 - i) * (n - 1 - i);
    CHECK(cudaFree(d));
    delete[] h;
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
