// Kernels whose names and counts are compared with those of Nsight Compute (tests/sim/test_ncu.py): template arguments
// of all kinds, unnamed namespaces, functions that are inlined, local arrays, asynchronous copies, and launches of one
// kernel with other shapes and other counts.

#include <cstdio>
#include <cuda_pipeline.h>

namespace {

template <typename T, int step, bool reversed>
__global__ void strided(T* out, const T* in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[reversed ? blockDim.x * gridDim.x - 1 - i : i] = in[i * step];
}

struct Twice {
    __device__ float operator()(float x) const { return 2 * x; }
};

}  // namespace

namespace shapes {

template <typename F>
__global__ void apply(F f, float* out, const float* in)
{
    out[threadIdx.x] = f(in[threadIdx.x]);
}

}  // namespace shapes

__device__ float right(const float* in, int i) { return in[i + 1]; }

__global__ void inlined(float* out, const float* in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = right(in, i) + in[i * 2];
}

// nvcc has no register for an array whose index it does not know, and puts the array into local memory.
__global__ void localArray(float* out, const float* in)
{
    float own[16];
    const int t = threadIdx.x;
    for (int i = 0; i < 16; ++i) own[i] = in[t + i];
    for (int i = 0; i < 16; ++i) own[(t + i * i) % 16] += own[(t * 3 + i) % 16];
    out[t] = own[t % 16];
}

__global__ void asynchronous(float* out, const float* in)
{
    __shared__ float tile[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    __pipeline_memcpy_async(&tile[x][y], in + y * 32 + x, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[y * 32 + x] = tile[y][x];
}

// The counts depend on an argument.
__global__ void byArgument(float* out, const float* in, int step) { out[threadIdx.x] = in[threadIdx.x * step]; }

int main()
{
    float *in, *out;
    cudaMalloc(&in, 16384);
    cudaMalloc(&out, 16384);
    cudaMemset(in, 0, 16384);
    strided<float, 1, false><<<4, 64>>>(out, in);
    strided<float, 4, true><<<4, 64>>>(out, in);
    strided<unsigned, 1, false><<<4, 64>>>((unsigned*)out, (unsigned*)in);
    shapes::apply<<<1, 128>>>(Twice(), out, in);
    for (int i = 0; i < 3; ++i) inlined<<<2, 128>>>(out, in);
    inlined<<<4, 32>>>(out, in);
    localArray<<<1, 64>>>(out, in);
    asynchronous<<<1, dim3(32, 32)>>>(out, in);
    for (int step = 1; step <= 4; step *= 2) byArgument<<<1, 64>>>(out, in, step);
    byArgument<<<1, 64>>>(out, in, 1);
    cudaFree(in);
    cudaFree(out);
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
