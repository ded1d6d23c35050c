#include "../common/step.h"

// A warp turns 32 x 32 elements in arrays of its threads, with an index that is known at run time only.
template <typename T>
__global__ void transposePatches(T* odata, const T* idata, int width, int height)
{
    T a[32];
    int t = threadIdx.x;
    int x0 = blockIdx.x * 32, y0 = (blockIdx.y * blockDim.y + threadIdx.y) * 32;
    for (int r = 0; r < 32; ++r) {
        int c = (t + r) & 31;
        if (x0 + c < width && y0 + r < height) a[r] = idata[size_t(y0 + r) * width + x0 + c];
    }
    for (int c = 0; c < 32; ++c) {
        int r = (c - t) & 31;
        if (x0 + c < width && y0 + r < height) odata[size_t(x0 + c) * height + y0 + r] = a[r];
    }
}

template <typename T>
void launchPatches(T* odata, const T* idata, int width, int height)
{
    transposePatches<T><<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 1)>>>(odata, idata, width, height);
}

KERNEL(transposePatches, "-", transposes, launchPatches)
