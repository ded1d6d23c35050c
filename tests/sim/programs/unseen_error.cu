// Faulty: the block is too large, so that the kernel does not run, and the program does not ask.
#include <cstdio>

__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main()
{
    int h = 0, *d_data;
    cudaMalloc(&d_data, 2048 * sizeof(int));
    cudaMemset(d_data, 0, 2048 * sizeof(int));
    fill<<<1, 2048>>>(d_data);
    cudaMemcpy(&h, d_data, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(d_data);
    return 0;
}
