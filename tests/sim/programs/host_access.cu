// Faulty: the host reads the device's memory through its pointer.
#include <cstdio>

int main()
{
    int* d_data;
    cudaMalloc(&d_data, 128);
    cudaMemset(d_data, 0, 128);
    printf("before\n");
    printf("the first is %d\n", d_data[0]);
    cudaFree(d_data);
    return 0;
}
