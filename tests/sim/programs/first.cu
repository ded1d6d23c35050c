#include <cstdio>
#include <cstring>

__global__ void copy(float* out, const float* in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

int main()
{
    float before[1000], after[1000], *in, *out;
    for (int i = 0; i < 1000; ++i) before[i] = i;
    cudaMalloc(&in, sizeof before);
    cudaMalloc(&out, sizeof before);
    cudaMemcpy(in, before, sizeof before, cudaMemcpyHostToDevice);
    copy<<<4, 256>>>(out, in, 1000);
    cudaMemcpy(after, out, sizeof after, cudaMemcpyDeviceToHost);
    bool same = memcmp(before, after, sizeof before) == 0;
    printf("%s, %s\n", cudaGetErrorString(cudaGetLastError()), same ? "PASSED" : "FAILED");
    cudaFree(in);
    cudaFree(out);
}
