// A product of matrices in tiles; the kernel is a template. Nothing is wrong.
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.h"

template <int side>
__global__ void matrixMul(float* c, const float* a, const float* b, int a_width, int b_width)
{
    __shared__ float as[side][side];
    __shared__ float bs[side][side];
    const int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
    float sum = 0;
    for (int first = 0; first < a_width; first += side) {
        as[threadIdx.y][threadIdx.x] = a[y * a_width + first + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * b_width + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < side; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[y * b_width + x] = sum;
}

int main()
{
    const int rows = 64, inner = 96, columns = 32;
    std::vector<float> a(rows * inner, 1.0f), b(inner * columns, 0.01f), c(rows * columns);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, a.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_b, b.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_c, c.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    matrixMul<16><<<dim3(columns / 16, rows / 16), dim3(16, 16)>>>(d_c, d_a, d_b, inner, columns);
    matrixMul<32><<<dim3(columns / 32, rows / 32), dim3(32, 32)>>>(d_c, d_a, d_b, inner, columns);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(c.data(), d_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (float value : c) wrong += std::fabs(value - inner * 0.01f) > 1e-4f;
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
