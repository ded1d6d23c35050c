// Faulty: the kernel loads from memory that is freed.
#include <cstdio>

__global__ void copy(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x]; }

int main()
{
    int *d_in, *d_out;
    cudaMalloc(&d_in, 128);
    cudaMalloc(&d_out, 128);
    cudaMemset(d_in, 0, 128);
    cudaFree(d_in);
    copy<<<1, 32>>>(d_out, d_in);
    if (cudaDeviceSynchronize() != cudaSuccess) printf("the kernel failed\n");
    cudaFree(d_out);
    return 0;
}
