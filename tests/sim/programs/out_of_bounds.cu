// Faulty: the kernel stores beyond the end, because it has no test of i against n. The program looks at no error.
#include <vector>

__global__ void fill(int* data, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = value;
}

int main()
{
    const int n = 1000;
    std::vector<int> h(n);
    int* d_data;
    cudaMalloc(&d_data, n * sizeof(int));
    fill<<<4, 256>>>(d_data, 1);
    cudaMemcpy(h.data(), d_data, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_data);
    return 0;
}
