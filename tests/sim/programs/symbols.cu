// Constants and variables of the device, written and read by the host. Nothing is wrong.
#include <cstdio>

#include "check.h"

__constant__ float coefficients[4];
__device__ int counter = 7;
__device__ float results[64];

__global__ void polynomial()
{
    const float x = threadIdx.x;
    results[threadIdx.x] = coefficients[0] + x * (coefficients[1] + x * (coefficients[2] + x * coefficients[3]));
    if (threadIdx.x == 0) counter += 1;
}

__global__ void twice(float* data) { data[threadIdx.x] *= 2; }

int main()
{
    const float c[4] = {1, 2, 3, 4};
    CHECK(cudaMemcpyToSymbol(coefficients, c, sizeof c));
    CHECK(cudaMemcpyToSymbol(coefficients, &c[1], sizeof(float), sizeof(float), cudaMemcpyHostToDevice));
    polynomial<<<1, 64>>>();
    CHECK(cudaGetLastError());
    float* address = nullptr;
    size_t bytes = 0;
    CHECK(cudaGetSymbolAddress((void**)&address, results));
    CHECK(cudaGetSymbolSize(&bytes, results));
    twice<<<1, 64>>>(address);
    float h[64], g[64];
    int count = 0;
    CHECK(cudaMemcpyFromSymbol(h, results, sizeof h));
    CHECK(cudaMemcpy(g, address, sizeof g, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    int wrong = count != 8 || bytes != sizeof h;
    for (int i = 0; i < 64; ++i) wrong += h[i] != 2.0f * (1 + i * (2 + i * (3 + i * 4))) || g[i] != h[i];
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
