// Faulty: the result is copied from memory that is freed.
int main()
{
    int h_out[32], *d_out;
    cudaMalloc(&d_out, sizeof h_out);
    cudaMemset(d_out, 0, sizeof h_out);
    cudaFree(d_out);
    cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost);
    return 0;
}
