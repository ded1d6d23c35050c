// A fault of the host's own code.
#include <cstdio>

__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main(int argc, char**)
{
    int* d_data;
    cudaMalloc(&d_data, 128);
    fill<<<1, 32>>>(d_data);
    volatile int* nowhere = argc ? nullptr : d_data;
    *nowhere = 1;
    return 0;
}
