// Faulty: memory of three kinds that the program does not free.
int main()
{
    float *d_data, *managed, *pinned, *freed;
    cudaMalloc(&d_data, 1000);
    cudaMallocManaged(&managed, 2000);
    cudaMallocHost((void**)&pinned, 3000);
    cudaMalloc(&freed, 4000);
    cudaFree(freed);
    return 0;
}
