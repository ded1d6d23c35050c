// Loops that are long, and look as if they waited: each of them ends.
#include <cstdio>

#include "check.h"

constexpr int turns = 300000;

__global__ void search(const int* limit, int* hits)
{
    unsigned x = threadIdx.x;
    int own = 0;
    for (int i = 0; i < turns; ++i) {
        x = x * 1664525u + 1013904223u;
        own += int(x >> 8) < *limit;
    }
    hits[threadIdx.x] = own;
}

__global__ void count_down(int* counter)
{
    while (atomicSub(counter, 1) > 0) {}
}

__global__ void pass_time()
{
    const long long begin = clock64();
    while (clock64() - begin < turns) {}
}

int main()
{
    int *d_limit, *d_hits, *d_counter, counter = turns, limit = 1 << 23, hits[32];
    CHECK(cudaMalloc(&d_limit, sizeof(int)));
    CHECK(cudaMalloc(&d_hits, sizeof hits));
    CHECK(cudaMalloc(&d_counter, sizeof(int)));
    CHECK(cudaMemcpy(d_limit, &limit, sizeof limit, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_counter, &counter, sizeof counter, cudaMemcpyHostToDevice));
    search<<<1, 32>>>(d_limit, d_hits);
    count_down<<<1, 2>>>(d_counter);
    pass_time<<<1, 1>>>();
    CHECK(cudaMemcpy(hits, d_hits, sizeof hits, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&counter, d_counter, sizeof counter, cudaMemcpyDeviceToHost));
    bool right = counter == -2;
    for (int n : hits) right = right && n > turns / 3 && n < turns * 2 / 3;
    CHECK(cudaFree(d_limit));
    CHECK(cudaFree(d_hits));
    CHECK(cudaFree(d_counter));
    printf(right ? "PASSED\n" : "FAILED\n");
    return !right;
}
