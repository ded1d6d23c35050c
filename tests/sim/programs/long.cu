// Launches until it is interrupted. Nothing is wrong.
#include <cstdio>

#include "check.h"

__global__ void spin(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main()
{
    int* d_data;
    CHECK(cudaMalloc(&d_data, 64 * 256 * sizeof(int)));
    printf("begun\n");
    fflush(stdout);
    for (;;) spin<<<64, 256>>>(d_data);
}
