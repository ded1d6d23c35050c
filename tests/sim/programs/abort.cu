// Ends by abort(), as a failed assertion of the host does.
#include <cstdio>
#include <cstdlib>

__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main()
{
    int* d_data;
    cudaMalloc(&d_data, 128);
    fill<<<1, 32>>>(d_data);
    printf("before\n");
    abort();
}
