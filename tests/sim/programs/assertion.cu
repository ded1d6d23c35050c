// Faulty: an assertion of the kernel fails.
#include <cassert>
#include <cstdio>

__global__ void check(int n) { assert(int(threadIdx.x) < n); }

int main()
{
    check<<<1, 32>>>(16);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
