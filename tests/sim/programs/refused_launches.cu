// Launches that CUDA refuses, and a program that asks for each error. Nothing is wrong.
#include <cstdio>

#include "check.h"

__global__ void nothing(int* data)
{
    extern __shared__ int memory[];
    if (data) data[0] = memory[0];
}

// What no device can launch. CUDA changed the name of it.
constexpr cudaError_t cannot_be = CUDART_VERSION < 13000 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;

int main()
{
    int wrong = 0;
    const auto expect = [&](cudaError_t expected) {
        const cudaError_t error = cudaGetLastError();
        printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
        wrong += error != expected || cudaGetLastError() != cudaSuccess;
    };
    nothing<<<1, 1025>>>(nullptr);
    expect(cannot_be);
    nothing<<<0, 32>>>(nullptr);
    expect(cannot_be);
    nothing<<<dim3(1, 65536), 32>>>(nullptr);
    expect(cannot_be);
    nothing<<<1, 32, 50000>>>(nullptr);
    expect(cudaErrorInvalidValue);
    nothing<<<1, 32>>>(nullptr);
    expect(cudaSuccess);
    CHECK(cudaDeviceSynchronize());
    void* p = nullptr;
    wrong += cudaMalloc(&p, size_t(1) << 50) != cudaErrorMemoryAllocation;
    expect(cudaErrorMemoryAllocation);
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
