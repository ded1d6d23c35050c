// The cost of local memory: copies of a matrix by threads that move 32 floats each, of which some take a detour through
// an array in local memory, and one transpose by such an array.
//
//   registers    no array
//   level        the first WORDS floats go through an array with an index that all threads share
//   skewed       the same, and they are loaded with an index that depends on the thread
//   transpose    tests/lab/local_array.cu: 32 words, loaded with an index that depends on the thread
//
// make local_memory && ./local_memory. Milliseconds are the median of 11 launches. threads_of_sm is how many threads an
// SM holds at once. plots/data/h200_local.csv has the rows of an H200.

#include <algorithm>
#include <cstdio>

#define KERNEL(name) __global__ void name(float* o, const float* x, int n, int shift)
#define START                                             \
    const int t = threadIdx.x % 32, left = blockIdx.x * 32; \
    const int top = (blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32) * 32; \
    float a[32]
#define EACH(r, count) _Pragma("unroll") for (int r = 0; r < count; ++r)
#define LOAD EACH(r, 32) a[r] = x[size_t(top + r) * n + left + t]
#define STORE EACH(r, 32) o[size_t(top + r) * n + left + t] = a[r]

template <int words> KERNEL(registers) { START; LOAD; STORE; }
template <int words> KERNEL(level)
{
    START; LOAD;
    float b[words];
    EACH(r, words) b[(r + shift) % words] = a[r];
    EACH(r, words) a[r] = b[(r + 2 * shift) % words];
    STORE;
}
template <int words> KERNEL(skewed)
{
    START; LOAD;
    float b[words];
    EACH(r, words) b[(r + shift) % words] = a[r];
    EACH(r, words) a[r] = b[(r + t) % words];
    STORE;
}
template <int words> KERNEL(transpose)
{
    START;
    for (int r = 0; r < 32; ++r) {
        const int c = (t + r) & 31;
        if (left + c < n && top + r < n) a[r] = x[size_t(top + r) * n + left + c];
    }
    for (int c = 0; c < 32; ++c) {
        const int r = (c - t) & 31;
        if (left + c < n && top + r < n) o[size_t(left + c) * n + top + r] = a[r];
    }
}

template <typename Do> float median_ms(Do act)
{
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float ms[11];
    for (float& each : ms) {
        cudaEventRecord(begin);
        act();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&each, begin, end);
    }
    std::sort(ms, ms + 11);
    return ms[5];
}

int main()
{
    const int n = 16384;
    const size_t bytes = size_t(n) * n * sizeof(float);
    float *o, *x;
    cudaMalloc(&o, bytes);
    cudaMalloc(&x, bytes);
    cudaMemset(x, 1, bytes);
    cudaDeviceProp card;
    cudaGetDeviceProperties(&card, 0);
    const float copy = median_ms([&] { cudaMemcpyAsync(o, x, bytes, cudaMemcpyDeviceToDevice); });
    printf("machine,kernel,words,threads,threads_of_sm,ms,percent_of_memcpy\n%s,cudaMemcpy,0,0,0,%.4f,100.0\n",
           card.name, copy);
    for (int threads : {32, 128, 256}) {
#define RUN(kernel, words)                                                                                     \
    {                                                                                                          \
        int blocks = 0;                                                                                        \
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel<words>, threads, 0);                     \
        const float ms = median_ms([&] { kernel<words><<<dim3(n / 32, n / threads), threads>>>(o, x, n, 3); }); \
        printf("%s,%s,%d,%d,%d,%.4f,%.1f\n", card.name, #kernel, words, threads, blocks * threads, ms,         \
               100 * copy / ms);                                                                               \
    }
        RUN(registers, 0) RUN(level, 8) RUN(level, 16) RUN(level, 32) RUN(skewed, 8) RUN(skewed, 16) RUN(skewed, 32)
        RUN(transpose, 32)
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
