// Faulty: memcpy in the place of cudaMemcpy.
#include <cstdio>
#include <cstring>

int main()
{
    int h_data[4096] = {}, *d_data;
    cudaMalloc(&d_data, sizeof h_data);
    volatile size_t bytes = sizeof h_data;
    memcpy(d_data, h_data, bytes);
    printf("not reached\n");
    cudaFree(d_data);
    return 0;
}
