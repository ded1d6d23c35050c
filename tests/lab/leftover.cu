// The first thread of a block loads a tile into an array of its own. The others have given theirs no value, and store
// what they find there.
#include "../common/step.h"

template <typename T>
__global__ void transposeSwizzle(T* odata, const T* idata, int width, int height)
{
    T tile[32][32];
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    if (threadIdx.x == 0)
        for (int r = 0; r < 32 && y + r < height; ++r)
            for (int c = 0; c < 32 && x + c < width; ++c) tile[r][c] = idata[size_t(y + r) * width + x + c];
    for (int c = 0; c < 32 && x + c < width; ++c)
        if (y + threadIdx.x < height) odata[size_t(x + c) * height + y + threadIdx.x] = tile[threadIdx.x][c];
}

template <typename T>
void launchSwizzle(T* odata, const T* idata, int width, int height)
{
    transposeSwizzle<T><<<dim3((width + 31) / 32, (height + 31) / 32), 32>>>(odata, idata, width, height);
}

KERNEL(transposeSwizzle, "-", transposes, launchSwizzle)
