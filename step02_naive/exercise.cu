// Exercise 2: a warp need not be one row of 32.
//
//   make lab02
//
// Below is the transpose of step 2: 4 sectors for a warp's load, 32 for its store. Without shared
// memory one side stays scattered. Choose the better side for it. Then choose the shape of the block.
// A warp is 32 threads of the block, counted along threadIdx.x first. So the width of the block
// decides how many columns and rows of the matrix a warp moves. Reach 4 sectors for every store
// and at most 8 for every load. (A sector is 8 floats.)

#include "../common/step.h"

constexpr int BLOCK_X = 32;  // TODO: another shape. A block has BLOCK_X x BLOCK_Y threads,
constexpr int BLOCK_Y = 8;   // at most 1024. The launch divides the matrix by the same numbers.

template <typename T>
__global__ void transposePatches(T* odata, const T* idata, int width, int height)
{
    // TODO: neighbouring lanes differ in threadIdx.x. Should it go along x or along y? (See the grid, too.)
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
