// Faulty: cudaFree gets memory of malloc, a pointer into the middle, and pinned memory.
#include <cstdlib>

int main()
{
    int *h_data = (int*)malloc(64), *d_data, *h_pinned;
    cudaMalloc(&d_data, 64);
    cudaMallocHost(&h_pinned, 64);
    cudaFree(h_data);
    cudaFree(d_data + 4);
    cudaFree(h_pinned);
    cudaFree(d_data);
    cudaFreeHost(h_pinned);
    free(h_data);
    return 0;
}
