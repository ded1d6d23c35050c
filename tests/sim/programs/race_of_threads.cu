// Faulty: the reversal in shared memory has no barrier.
#include <cstdio>

__global__ void reverse(int* data)
{
    __shared__ int buffer[128];
    buffer[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = buffer[127 - threadIdx.x];
}

int main()
{
    int h[128] = {}, *d_data;
    cudaMalloc(&d_data, sizeof h);
    cudaMemcpy(d_data, h, sizeof h, cudaMemcpyHostToDevice);
    reverse<<<1, 128>>>(d_data);
    cudaMemcpy(h, d_data, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d_data);
    return 0;
}
