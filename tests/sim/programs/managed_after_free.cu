// Faulty: the host reads managed memory that is freed.
#include <cstdio>

int main()
{
    int* data;
    cudaMallocManaged(&data, 128);
    data[0] = 1;
    cudaFree(data);
    printf("%d\n", data[0]);
    return 0;
}
