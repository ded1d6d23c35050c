// Fault: threads store different values to one place, with nothing that orders them. That the values before and after
// are the same (every third one is) makes no difference.
#include <cstdio>

__global__ void last_one(int* out)
{
    __shared__ int last;
    last = threadIdx.x % 3;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = last;
    out[1 + blockIdx.x % 2] = blockIdx.x;
}

int main()
{
    int* d_out;
    cudaMalloc(&d_out, 3 * sizeof(int));
    last_one<<<5, 64>>>(d_out);
    int out[3];
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    std::printf("%d %d %d\n", out[0], out[1], out[2]);
    cudaFree(d_out);
}
