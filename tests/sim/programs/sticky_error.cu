// Faulty: the kernel loads in front of the beginning. The program sees the error at the next call that waits.
#include "check.h"

__global__ void shift(int* data) { data[threadIdx.x] = data[int(threadIdx.x) - 64]; }

int main()
{
    int* d_data;
    CHECK(cudaMalloc(&d_data, 128));
    CHECK(cudaMemset(d_data, 0, 128));
    shift<<<1, 32>>>(d_data);
    CHECK(cudaGetLastError());
    const cudaError_t error = cudaDeviceSynchronize();
    printf("after the kernel: %s\n", cudaGetErrorName(error));
    CHECK(cudaFree(d_data));
    printf("not reached\n");
    return 0;
}
