// Faults that the sanitizers have to find: tools/sanitize.py. Their host half is tools/sanitized_host.cpp, which the
// kernels call on their fibers.

#include "../common/step.h"

extern "C" void behind_an_array_on_the_stack(int index);
extern "C" void count_without_a_lock();

template <typename T>
__global__ void sound(T* odata, const T* idata, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width * height) odata[x] = idata[x];
}

template <typename T>
__global__ void behindTheStack(T* odata, const T* idata, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width * height) odata[x] = idata[x];
    __syncthreads();
    behind_an_array_on_the_stack(64);
}

template <typename T>
__global__ void racingHost(T* odata, const T* idata, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width * height) odata[x] = idata[x];
    if (blockIdx.x > 0) count_without_a_lock();  // the first block runs before the others
}

template <typename T>
__global__ void signedOverflow(T* odata, const T* idata, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    int most = 2147483647 - x;
    most += width * height;
    if (x < width * height && most != 0) odata[x] = idata[x];
}

#define LAUNCHER(kernel)                                                       \
    template <typename T>                                                      \
    void launch_##kernel(T* odata, const T* idata, int width, int height)      \
    {                                                                          \
        kernel<T><<<(width * height + 63) / 64, 64>>>(odata, idata, width, height); \
    }                                                                          \
    KERNEL(kernel, "-", copies, launch_##kernel)

LAUNCHER(sound)
LAUNCHER(behindTheStack)
LAUNCHER(racingHost)
LAUNCHER(signedOverflow)
