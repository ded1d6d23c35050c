// A histogram of bytes, in shared memory first. Nothing is wrong.
#include <cstdio>
#include <vector>

#include "check.h"

constexpr int bins = 256;

__global__ void histogram(const unsigned char* data, int n, unsigned* counts)
{
    __shared__ unsigned own[bins];
    for (int i = threadIdx.x; i < bins; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(&counts[i], own[i]);
}

int main()
{
    const int n = 20000;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(bins), counts(bins);
    for (int i = 0; i < n; ++i) ++expected[data[i] = (unsigned char)(i * i / 3)];
    unsigned char* d_data;
    unsigned* d_counts;
    CHECK(cudaMalloc(&d_data, n));
    CHECK(cudaMalloc(&d_counts, bins * sizeof(unsigned)));
    CHECK(cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_counts, 0, bins * sizeof(unsigned)));
    histogram<<<8, 128>>>(d_data, n, d_counts);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(counts.data(), d_counts, bins * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_data));
    CHECK(cudaFree(d_counts));
    printf(counts == expected ? "PASSED\n" : "FAILED\n");
    return counts != expected;
}
