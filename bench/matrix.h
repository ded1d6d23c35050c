// The trials of bench/ fill a matrix before they run, and check its transpose afterwards.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>

// The element at offset i: whole numbers that a float holds; of narrower types, as many as they have.
template <typename T>
__device__ T element(size_t i)
{
    return T(i % 16777213);
}

template <>
inline __device__ double2 element(size_t i)
{
    return {double(i), -double(i)};
}

template <typename T>
__device__ bool differ(T a, T b)
{
    return a != b;
}

inline __device__ bool differ(double2 a, double2 b) { return a.x != b.x || a.y != b.y; }

template <typename T>
__global__ void fill(T* data, size_t n)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        data[i] = element<T>(i);
}

// Adds to *wrong how many elements of odata, the transpose of a filled matrix of `width` x `height`, are wrong.
template <typename T>
__global__ void check(const T* odata, int width, int height, unsigned* wrong)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < size_t(width) * height;
         i += size_t(gridDim.x) * blockDim.x)
        if (differ(odata[i], element<T>(i % height * width + i / height))) atomicAdd(wrong, 1);
}
