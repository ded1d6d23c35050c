// Shared arrays of functions that a kernel calls, first touched by yet another function; of a kernel whose template
// arguments the launch does not give; of a lambda; and one whose declaration is jumped over.
#include "check.h"

constexpr int threads = 64;
extern __shared__ int dynamic[];

template <int n, typename T>
__device__ void fill(T (&array)[n], const T* in)
{
    array[threadIdx.x] = in[threadIdx.x];
}

template <typename T>
__device__ T* filled(const T* in)
{
    __shared__ T tile[2][threads];
    __shared__ T first, *last, pair[2];
    #pragma unroll
    for (int row = 0; row < 2; ++row) fill(tile[row], in);
    if (threadIdx.x == 0) {
        last = pair + 1;
        *last = 1;
        first = *last;
    }
    __syncthreads();
    return first == *last ? tile[1] : nullptr;
}

template <class T, int bound>
__launch_bounds__(bound)
__global__ void backwards(T* out, const T* in)
{
    const T* tile = filled(in);
    auto mirrored = [](int i) {
        __shared__ T mine[threads];
        mine[i] = T(i);
        __syncthreads();
        return mine[threads - 1 - i];
    };
    out[threadIdx.x] = tile[threads - 1 - threadIdx.x] + mirrored(threadIdx.x);
}

template <class T>
__global__ void deduced(T* out, const T* in)
{
    __shared__ T one, array[threads];
    dynamic[threadIdx.x] = 1;
    if (threadIdx.x == 0) one = 1;
    fill(array, in);
    __syncthreads();
    out[threadIdx.x] = array[threads - 1 - threadIdx.x] + one + dynamic[threads - 1 - threadIdx.x];
}

__global__ void jumped_over(int* out, int which)
{
    switch (which) {
        case 0: __shared__ int array[threads]; break;
        case 1:
            array[threadIdx.x] = int(threadIdx.x);
            __syncthreads();
            out[threadIdx.x] = array[threads - 1 - threadIdx.x];
    }
}

int main()
{
    int in[threads], out[threads], *d_in, *d_out;
    for (int i = 0; i < threads; ++i) in[i] = i * i;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    int wrong = 0;
    const auto compare = [&](auto expected) {
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < threads; ++i) wrong += out[i] != expected(threads - 1 - i);
    };
    backwards<int, threads><<<1, threads>>>(d_out, d_in);
    compare([&](int i) { return in[i] + i; });
    deduced<<<1, threads, sizeof in>>>(d_out, d_in);
    compare([&](int i) { return in[i] + 2; });
    jumped_over<<<1, threads>>>(d_out, 1);
    compare([](int i) { return i; });
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    std::printf(wrong ? "FAILED: %d elements\n" : "PASSED\n", wrong);
    return wrong != 0;
}
