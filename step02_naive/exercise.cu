// Exercise 2: a warp need not be one row of 32.
//
//   make lab02
//
// Below is the transpose of step 2: 4 sectors for a warp's load, 32 for its store. Without shared
// memory one side stays scattered. Choose the better side for it, and then the shape of the block,
// which is the shape of the patch of the matrix that a warp moves: 4 sectors for every store,
// and at most 8 for every load. (A sector is 8 floats.)

#include "../common/step.h"

constexpr int BLOCK_X = 32;  // TODO: a block of BLOCK_X x BLOCK_Y threads, 32 of which, one after
constexpr int BLOCK_Y = 8;   // the other along threadIdx.x, then threadIdx.y, are a warp

template <typename T>
__global__ void transposePatches(T* odata, const T* idata, int width, int height)
{
    // TODO: along which side should threadIdx.x, the index that neighbouring lanes differ in, go?
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;

    if (x < width && y < height)
        odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchPatches(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    dim3 block(BLOCK_X, BLOCK_Y);
    transposePatches<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposePatches, "-", transposes, launchPatches)
