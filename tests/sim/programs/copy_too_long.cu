// Faulty: the allocation counts elements where bytes are meant, and the copy does not fit.
int main()
{
    const int n = 256;
    float h_in[n] = {}, *d_in;
    cudaMalloc((void**)&d_in, n);
    cudaMemcpy(d_in, h_in, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaFree(d_in);
    return 0;
}
