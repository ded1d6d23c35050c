// loses: memory
// hint: 4096 bytes
//
// The variant for tiles of any shape: its array is as large as the largest.

#include "../common/step.h"

template <typename T>
__global__ void transposeHalfTile(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[1024];  // blockDim.y rows of blockDim.x, at most

    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    if (x < width && y < height)
        tile[tid] = idata[size_t(y) * width + x];

    __syncthreads();

    int col = tid / blockDim.y;  // of the tile; a row of its transpose
    int row = tid % blockDim.y;
    x = blockIdx.y * blockDim.y + row;
    y = blockIdx.x * blockDim.x + col;

    if (x < height && y < width)
        odata[size_t(y) * height + x] = tile[row * blockDim.x + col];
}

template <typename T>
void launchRemap(T* odata, const T* idata, int width, int height, dim3 block = dim3(32, 8))
{
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    LAUNCH(transposeHalfTile<T>, grid, block)(odata, idata, width, height);
}

KERNEL(transposeHalfTile, "-", transposes, launchRemap)
