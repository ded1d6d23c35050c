// Faulty: the same memory is freed twice.
int main()
{
    int *d_a, *d_b;
    cudaMalloc(&d_a, 4096);
    cudaMalloc(&d_b, 4096);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_a);
    return 0;
}
