// Numbers of 16 bits: their operators are functions of a header, and cost what they cost in the program's lines.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

#include "check.h"

__global__ void operators(__half* h, __half2* pairs, const __nv_bfloat16* b, float* f)
{
    const int i = threadIdx.x;
    h[i] += h[32 + i];
    f[i] = float(h[64 + i]);
    pairs[i] += pairs[32 + i];
    f[32 + i] = b[i];
    h[64 + i]++;
}

int main()
{
    __half *d_h, h[96];
    __half2* d_pairs;
    __nv_bfloat16* d_b;
    float *d_f, f[64];
    CHECK(cudaMalloc(&d_h, 96 * sizeof(__half)));
    CHECK(cudaMalloc(&d_pairs, 64 * sizeof(__half2)));
    CHECK(cudaMalloc(&d_b, 32 * sizeof(__nv_bfloat16)));
    CHECK(cudaMalloc(&d_f, 64 * sizeof(float)));
    for (int i = 0; i < 96; ++i) h[i] = __float2half(float(i));
    CHECK(cudaMemcpy(d_h, h, sizeof h, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_pairs, 0, 64 * sizeof(__half2)));
    CHECK(cudaMemset(d_b, 0, 32 * sizeof(__nv_bfloat16)));
    operators<<<1, 32>>>(d_h, d_pairs, d_b, d_f);
    CHECK(cudaMemcpy(h, d_h, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(f, d_f, sizeof f, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < 32; ++i)
        right = right && __half2float(h[i]) == 2 * i + 32 && f[i] == 64 + i && __half2float(h[64 + i]) == 65 + i &&
                f[32 + i] == 0;
    CHECK(cudaFree(d_h));
    CHECK(cudaFree(d_pairs));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_f));
    printf(right ? "PASSED\n" : "FAILED\n");
    return !right;
}
