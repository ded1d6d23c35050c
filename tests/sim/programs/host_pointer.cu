// Faulty: the kernel gets a pointer of the host.
#include <cstdio>
#include <cstdlib>

__global__ void increment(int* data) { ++data[threadIdx.x]; }

int main()
{
    int* h_data = (int*)calloc(32, sizeof(int));
    increment<<<1, 32>>>(h_data);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    free(h_data);
    return 0;
}
