// Faulty: a time is asked for before the program has waited for its event.
#include <cstdio>

__global__ void nothing() {}

int main()
{
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    nothing<<<1, 32>>>();
    cudaEventRecord(stop);
    float ms = -1;
    const cudaError_t error = cudaEventElapsedTime(&ms, start, stop);
    printf("%s\n", cudaGetErrorName(error));
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return 0;
}
