// Sums: dynamic shared memory, shuffles of a warp, and an atomic operation. Nothing is wrong.
#include <cstdio>
#include <vector>

#include "check.h"

template <typename T, unsigned threads>
__global__ void reduce(const T* in, T* out, unsigned n)
{
    extern __shared__ int memory[];
    T* sums = reinterpret_cast<T*>(memory);
    T sum = 0;
    for (unsigned i = blockIdx.x * threads + threadIdx.x; i < n; i += threads * gridDim.x) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned s = threads / 2; s >= 32; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        sum = sums[threadIdx.x];
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

template <typename T>
void run(const T* in, T* out, unsigned n, int threads, int blocks)
{
    const size_t shared = threads * sizeof(T);
    switch (threads) {
        case 64: reduce<T, 64><<<blocks, threads, shared>>>(in, out, n); break;
        case 128: reduce<T, 128><<<blocks, threads, shared>>>(in, out, n); break;
        case 256: reduce<T, 256><<<blocks, threads, shared>>>(in, out, n); break;
    }
}

int main()
{
    const unsigned n = 10000;
    std::vector<int> in(n);
    long long expected = 0;
    for (unsigned i = 0; i < n; ++i) expected += in[i] = int(i % 7);
    int *d_in = nullptr, *d_out = nullptr, result = 0;
    CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CHECK(cudaMalloc(&d_out, sizeof(int)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    for (int threads : {64, 128, 256}) {
        CHECK(cudaMemset(d_out, 0, sizeof(int)));
        run(d_in, d_out, n, threads, 4);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&result, d_out, sizeof(int), cudaMemcpyDeviceToHost));
        if (result != expected) {
            printf("FAILED: %d, expected %lld\n", result, expected);
            return 1;
        }
    }
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    printf("PASSED\n");
}
