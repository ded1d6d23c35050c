// Takes as many MB of device memory as the argument says, and touches every byte.
#include <cstdio>
#include <cstdlib>

__global__ void fill(char* bytes, size_t n)
{
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        bytes[i] = char(i);
}

int main(int, char** argument)
{
    const size_t n = size_t(std::atoi(argument[1])) << 20;
    char* d_bytes = nullptr;
    const cudaError_t error = cudaMalloc(&d_bytes, n);
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorName(error));
        return 3;
    }
    cudaMemset(d_bytes, 0, n);
    fill<<<64, 256>>>(d_bytes, n);
    char last = 0;
    cudaMemcpy(&last, d_bytes + n - 1, 1, cudaMemcpyDeviceToHost);
    cudaFree(d_bytes);
    return last == char(n - 1) ? 0 : 4;
}
