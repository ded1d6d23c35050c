// Faulty: half of the result is copied back without anything having been stored there.
__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main()
{
    int h_out[64], *d_out;
    cudaMalloc(&d_out, sizeof h_out);
    fill<<<1, 32>>>(d_out);
    cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    return 0;
}
