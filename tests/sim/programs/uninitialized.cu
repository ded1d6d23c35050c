// Faulty: the kernel adds to memory that was never set to zero.
#include <cstdio>

__global__ void accumulate(int* sums) { sums[threadIdx.x] += 1; }

int main()
{
    int h[32], *d_sums;
    cudaMalloc(&d_sums, sizeof h);
    accumulate<<<1, 32>>>(d_sums);
    cudaMemcpy(h, d_sums, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d_sums);
    return 0;
}
