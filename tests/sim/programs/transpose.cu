// A transpose with and without shared memory, timed with events. Nothing is wrong.
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.h"

constexpr int tile_side = 32, block_rows = 8;

__global__ void transposeNaive(float* odata, const float* idata)
{
    const int x = blockIdx.x * tile_side + threadIdx.x, y = blockIdx.y * tile_side + threadIdx.y;
    const int width = gridDim.x * tile_side;
    for (int j = 0; j < tile_side; j += block_rows) odata[x * width + (y + j)] = idata[(y + j) * width + x];
}

__global__ void transposeCoalesced(float* odata, const float* idata)
{
    __shared__ float tile[tile_side][tile_side + 1];
    int x = blockIdx.x * tile_side + threadIdx.x, y = blockIdx.y * tile_side + threadIdx.y;
    const int width = gridDim.x * tile_side;
    for (int j = 0; j < tile_side; j += block_rows) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * tile_side + threadIdx.x;
    y = blockIdx.x * tile_side + threadIdx.y;
    for (int j = 0; j < tile_side; j += block_rows) odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int n = 128, repetitions = 3;
    const size_t bytes = n * n * sizeof(float);
    std::vector<float> in(n * n), out(n * n);
    for (int i = 0; i < n * n; ++i) in[i] = float(i);
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    const dim3 grid(n / tile_side, n / tile_side), block(tile_side, block_rows);
    int wrong = 0;
    for (int k = 0; k < 2; ++k) {
        void (*kernel)(float*, const float*) = k ? transposeCoalesced : transposeNaive;
        CHECK(cudaMemset(d_out, 0, bytes));
        CHECK(cudaEventRecord(start, 0));
        for (int i = 0; i < repetitions; ++i) {
            if (k) transposeCoalesced<<<grid, block>>>(d_out, d_in);
            else transposeNaive<<<grid, block>>>(d_out, d_in);
        }
        CHECK(cudaEventRecord(stop, 0));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaGetLastError());
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        kernel<<<grid, block>>>(d_out, d_in);
        CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x) wrong += out[x * n + y] != in[y * n + x];
        printf("%s: %.2f GB/s%s\n", k ? "coalesced" : "naive", 2 * bytes * 1e-6 * repetitions / ms,
               std::isnan(ms) ? " (no time)" : "");
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
