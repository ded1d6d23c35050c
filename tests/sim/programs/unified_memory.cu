// Memory that host and device share: managed, mapped and registered. Nothing is wrong.
#include <cstdio>
#include <cstdlib>

#include "check.h"

__device__ __managed__ int total;

__global__ void axpy(int n, float a, const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = a * x[i] + y[i];
    atomicAdd(&total, 1);
}

int main()
{
    const int n = 1 << 12;
    float *x, *y, *mapped, *d_mapped;
    CHECK(cudaMallocManaged(&x, n * sizeof(float)));
    CHECK(cudaMallocManaged(&y, n * sizeof(float)));
    for (int i = 0; i < n; ++i) {
        x[i] = 1;
        y[i] = 2;
    }
    axpy<<<n / 256, 256>>>(n, 2, x, y);
    CHECK(cudaDeviceSynchronize());
    int wrong = total != n;
    for (int i = 0; i < n; ++i) wrong += y[i] != 4;

    CHECK(cudaHostAlloc((void**)&mapped, n * sizeof(float), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void**)&d_mapped, mapped, 0));
    for (int i = 0; i < n; ++i) mapped[i] = 3;
    axpy<<<n / 256, 256>>>(n, 2, x, d_mapped);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) wrong += mapped[i] != 5;

    float* own = (float*)malloc(n * sizeof(float));
    for (int i = 0; i < n; ++i) own[i] = 6;
    CHECK(cudaHostRegister(own, n * sizeof(float), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer((void**)&d_mapped, own, 0));
    axpy<<<n / 256, 256>>>(n, 2, x, d_mapped);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) wrong += own[i] != 8;
    CHECK(cudaHostUnregister(own));
    free(own);

    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, x));
    wrong += attributes.type != cudaMemoryTypeManaged;
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFreeHost(mapped));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
