// Waits for what the host does later: a kernel that runs for ever.
#include "check.h"

__global__ void wait(volatile int* flag, int* out)
{
    while (*flag == 0) {}
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *d_flag, *d_out;
    CHECK(cudaMalloc(&d_flag, sizeof(int)));
    CHECK(cudaMalloc(&d_out, 4 * 64 * sizeof(int)));
    CHECK(cudaMemset(d_flag, 0, sizeof(int)));
    wait<<<4, 64>>>(d_flag, d_out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemset(d_flag, 1, sizeof(int)));
}
