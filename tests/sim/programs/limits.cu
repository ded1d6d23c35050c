// One kernel for each limit in sim/README.md: accesses that the simulator does not see or judge. The argument chooses
// it.
#include <cstdio>
#include <cstdlib>

__device__ constexpr float at_namespace_scope[4] = {1, 2, 3, 4};

__global__ void tables(float* out)
{
    static const float in_the_kernel[4] = {1, 2, 3, 4};
    const int t = threadIdx.x;
    out[t] = in_the_kernel[t % 4] + at_namespace_scope[t % 3];
}

__global__ void pointerOutOfLocal(float* out)
{
    float four[4] = {1, 2, 3, 4};
    const float* p = four + threadIdx.x % 8;
    out[threadIdx.x] = *p;
}

__global__ void rowOfMatrix(float* out)
{
    __shared__ float tile[2][32];
    const int t = threadIdx.x;
    tile[0][t] = tile[1][t] = 1;
    __syncthreads();
    out[t] = tile[0][t + 32];
}

__global__ void farAway(float* out)
{
    __shared__ float a[32], b[32];
    const int t = threadIdx.x;
    a[t] = b[t] = 1;
    __syncthreads();
    out[t] = (&a[0])[(b - a) + t];
}

__global__ void partsOfDynamic(float* out)
{
    extern __shared__ float parts[];
    float *first = parts, *second = parts + 32;
    const int t = threadIdx.x;
    first[t] = second[t] = 1;
    __syncthreads();
    out[t] = first[t + 32];
}

__global__ void dropped(float* out, const float* in)
{
    const float unused = in[threadIdx.x];
    (void)unused;
    out[threadIdx.x] = 1;
}

int main(int count, char** arguments)
{
    const int chosen = count > 1 ? std::atoi(arguments[1]) : -1;
    float *in, *out;
    cudaMalloc(&in, 128);
    cudaMalloc(&out, 128);
    if (chosen == 0) tables<<<1, 32>>>(out);
    if (chosen == 1) pointerOutOfLocal<<<1, 32>>>(out);
    if (chosen == 2) rowOfMatrix<<<1, 32>>>(out);
    if (chosen == 3) farAway<<<1, 32>>>(out);
    if (chosen == 4) partsOfDynamic<<<1, 32, 256>>>(out);
    if (chosen == 5) dropped<<<1, 32>>>(out, in);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
}
