// Matrices whose elements can be told apart, and how many of them a kernel has put in a wrong place.

#pragma once

#include "bench/card.h"

// The element at offset i: whole numbers that a float holds.
template <typename T>
__device__ T element(size_t i)
{
    return T(i % 16777213);
}

template <typename T>
__global__ void fill(T* data, size_t n)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        data[i] = element<T>(i);
}

template <typename T>
__global__ void count_wrong(unsigned long long* wrong, const T* odata, size_t width, size_t height, size_t n)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        const size_t inside = i % (width * height);
        if (odata[i] != element<T>(i - inside + inside % height * width + inside / height)) atomicAdd(wrong, 1ull);
    }
}

// How many of the n elements of odata are wrong: the transposes of filled matrices of width x height, one behind the
// other. With a height of 1, a copy. Waits for the GPU first.
template <typename T>
unsigned long long wrong_elements(const T* odata, size_t width, size_t height, size_t n)
{
    static unsigned long long* wrong = nullptr;
    if (!wrong) CUDA(cudaMallocManaged(&wrong, sizeof *wrong));
    CUDA(cudaDeviceSynchronize());
    *wrong = 0;
    count_wrong<<<1024, 256>>>(wrong, odata, width, height, n);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    return *wrong;
}
