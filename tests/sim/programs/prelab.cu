// The accesses of the pre-lab sheet's questions (lab/prelab.py). Arguments: global, shared or rows, the bytes of an
// element, where lane 0 begins, and how far apart the lanes are, or the rows; or blocks, the threads of a block and its
// bytes of shared memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "check.h"

// Lane k reads element begin + stride * k. Each stores what it read to a row of out in order.
template <typename T>
__global__ void strided(T* out, const T* in, int begin, int stride)
{
    out[threadIdx.x] = in[begin + stride * threadIdx.x];
}

template <typename T>
__global__ void column(T* out, const T* in, int begin, int stride)
{
    __shared__ T tile[32 * 64 + 64];
    for (int i = threadIdx.x; i < 32 * 64 + 64; i += 32) tile[i] = in[i];
    __syncwarp();
    out[threadIdx.x] = tile[begin + stride * threadIdx.x];
}

// One thread reads the first element of each of 64 rows.
template <typename T>
__global__ void rows(T* out, const T* in, int begin, int stride)
{
    for (int row = 0; row < 64; ++row) out[0] = in[begin + stride * row];
}

__global__ void dynamic(float* out)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = 0;
    out[threadIdx.x] = tile[threadIdx.x];
}

template <typename T>
void run(const char* how, int begin, int stride)
{
    const int n = begin + 64 * (stride + 64);
    T *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof(T)));
    CHECK(cudaMalloc(&out, 32 * sizeof(T)));
    CHECK(cudaMemset(in, 0, n * sizeof(T)));
    if (!strcmp(how, "global")) strided<<<1, 32>>>(out, in, begin, stride);
    else if (!strcmp(how, "shared")) column<<<1, 32>>>(out, in, begin, stride);
    else rows<<<1, 1>>>(out, in, begin, stride);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

int main(int argc, char** argv)
{
    const char* how = argc > 4 ? argv[1] : "global";
    const int bytes = argc > 4 ? atoi(argv[2]) : 4, begin = argc > 4 ? atoi(argv[3]) : 0,
              stride = argc > 4 ? atoi(argv[4]) : 1;
    if (!strcmp(how, "blocks")) {
        int blocks = 0;
        CHECK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, begin));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, bytes, begin));
        printf("%d\n", blocks);
        return 0;
    }
    if (bytes == 1) run<char>(how, begin, stride);
    else if (bytes == 2) run<short>(how, begin, stride);
    else if (bytes == 8) run<double>(how, begin, stride);
    else run<float>(how, begin, stride);
    printf("PASSED\n");
}
