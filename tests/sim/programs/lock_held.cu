// Takes a lock twice: every turn tries to, and leaves everything as it was.
#include "check.h"

__global__ void twice(int* lock)
{
    for (int i = 0; i < 2; ++i)
        while (atomicCAS(lock, 0, 1) != 0) {}
}

int main()
{
    int* d_lock;
    CHECK(cudaMalloc(&d_lock, sizeof(int)));
    CHECK(cudaMemset(d_lock, 0, sizeof(int)));
    twice<<<1, 1>>>(d_lock);
    CHECK(cudaDeviceSynchronize());
}
