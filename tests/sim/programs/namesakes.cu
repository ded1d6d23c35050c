// Functions of the host that have the names of kernels, and launch them. Nothing is wrong.
#include <cstdio>

#include "check.h"

const int n = 64;

__global__ void twice(int* data) { data[threadIdx.x] *= 2; }

void twice();

namespace sums {

template <typename T>
void add(T* d, T value);

__global__ void add(int* data, int length, int value)
{
    if (threadIdx.x < length) data[threadIdx.x] += value;
}

template <typename T>
void add(T* d, T value)
{
    add<<<1, n>>>(d, n, value);
    CHECK(cudaGetLastError());
}

}  // namespace sums

int *d, h[n];

void twice()
{
    twice<<<1, n>>>(d);
    CHECK(cudaGetLastError());
}

int main()
{
    CHECK(cudaMalloc(&d, sizeof h));
    CHECK(cudaMemset(d, 0, sizeof h));
    sums::add(d, 3);
    twice();
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d));
    int wrong = 0;
    for (int value : h) wrong += value != 6;
    std::printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
