// Stores to variables that a kernel may only read, through whatever hides them from the compiler. Each case has one
// store. The last cases are right.
#include "cases.h"

#define FORGED(name, store)                                                   \
    __global__ void name##_kernel(int* data) { data[threadIdx.x] = 1; store; } \
    CASE(name)                                                                \
    {                                                                         \
        int* data = device<int>(64);                                          \
        name##_kernel<<<2, 32>>>(data);                                       \
        if (cudaDeviceSynchronize() != cudaErrorLaunchFailure) exit(4);       \
    }

FORGED(cast, const_cast<unsigned&>(gridDim.x) = 1)  //! kernel-failed: store to gridDim, which is a constant.*\(64 times
FORGED(members, const_cast<uint3&>(threadIdx).z = 0)  //! kernel-failed: store to threadIdx
FORGED(whole, const_cast<uint3&>(blockIdx) = threadIdx)  //! kernel-failed: store to blockIdx
FORGED(pointer, unsigned* p = (unsigned*)&blockDim; p[1] = 7)  //! kernel-failed: store to blockDim
FORGED(neighbour,  //! kernel-failed: store to gridDim
       reinterpret_cast<unsigned(&)[64]>(const_cast<uint3&>(threadIdx))[int(&gridDim.x - &threadIdx.x)] = 1)
FORGED(copied, int one = 1; memcpy((void*)&gridDim, &one, 4))  //! kernel-failed: store to gridDim
FORGED(filled, memset((void*)&threadIdx, 0, 12))  //! kernel-failed: store to threadIdx
FORGED(added, atomicAdd((unsigned*)&blockIdx.y, 1u))  //! kernel-failed: store to blockIdx
FORGED(put_back, volatile unsigned* p = (unsigned*)&gridDim; *p = 1; *p = 2)  //! kernel-failed: store to gridDim

__global__ void reads(int* data)
{
    const uint3 own = threadIdx;
    dim3 grid = gridDim;
    grid.x = 1;
    const unsigned* p = &blockDim.x;
    data[own.x + blockIdx.x * p[0]] = int(grid.x + p[1] + p[2]);
}
CASE(read)
{
    int *data = device<int>(64), h[64];
    reads<<<2, 32>>>(data);
    cudaMemcpy(h, data, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[63]);  //> 3 3
    cudaFree(data);
}
