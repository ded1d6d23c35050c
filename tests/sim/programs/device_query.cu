// Asks what the device is, and launches nothing. Nothing is wrong.
#include <cstdio>

#include "check.h"

int main()
{
    int devices = 0, device = -1, driver = 0, runtime = 0, multiprocessors = 0, clock = 0;
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrMemoryClockRate, device));
    size_t free = 0, total = 0;
    CHECK(cudaMemGetInfo(&free, &total));
    printf("%d device: %s, compute capability %d.%d, CUDA %d.%d\n", devices, p.name, p.major, p.minor, runtime / 1000,
           runtime % 100 / 10);
    printf("%d multiprocessors, %d threads in a block, warps of %d, %zu bytes of shared memory in a block\n",
           multiprocessors, p.maxThreadsPerBlock, p.warpSize, p.sharedMemPerBlock);
    printf("%.0f GB/s, %d bytes of L2\n", 2.0 * clock * (p.memoryBusWidth / 8) / 1e6, p.l2CacheSize);
    const int wrong = devices != 1 || device != 0 || free > total || multiprocessors != p.multiProcessorCount ||
                      cudaSetDevice(1) != cudaErrorInvalidDevice;
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong;
}
