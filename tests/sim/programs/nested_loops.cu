// 200 000 accesses of each thread without a barrier, in loops that are short each: the simulator cannot keep them all.
#include <cstdio>

__global__ void sums(const int* data, int* out)
{
    int sum = 0;
    for (int i = 0; i < 400; ++i)
        for (int j = 0; j < 500; ++j) sum += data[(i + j) % 64 * 64 + threadIdx.x];
    out[threadIdx.x] = sum;
}

int main()
{
    int *d_data, *d_out, out[64];
    cudaMalloc(&d_data, 64 * 64 * sizeof(int));
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_data, 1, 64 * 64 * sizeof(int));
    sums<<<1, 64>>>(d_data, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int sum : out)
        if (sum != int(200000u * 0x01010101u)) return 1;
    printf("right\n");
    cudaFree(d_data);
    cudaFree(d_out);
}
