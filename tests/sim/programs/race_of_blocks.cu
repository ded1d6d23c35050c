// Faulty: all threads add to one number without an atomic operation.
#include <cstdio>

__global__ void count(int* total) { *total += 1; }

int main()
{
    int h = 0, *d_total;
    cudaMalloc(&d_total, sizeof h);
    cudaMemset(d_total, 0, sizeof h);
    count<<<4, 64>>>(d_total);
    cudaMemcpy(&h, d_total, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d_total);
    return 0;
}
