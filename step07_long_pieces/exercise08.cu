// Exercise 8: as fast as you can.
//
//   make lab08
//
// transposeFast is right and slow. It is step 2's naive transpose. Make it as fast as you can, in any way that
// CUDA allows. You may change everything but the name of the kernel and the last line: tiles, blocks, their
// order, vectors, further kernels.
//
// The points follow the time that the model of the H200 gives your kernel, as a share of a copy's bandwidth. The
// hand-out reaches 12 %. From 93 % on, you have all points. Two shapes count: 8192 x 512 floats, and one with odd
// sides that is drawn for each run. The slower one decides. The output names the resource that limits you.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

// TODO: make it fast.
template <typename T>
__global__ void transposeFast(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(x) * height + (y + j)] = idata[size_t(y + j) * width + x];
}

template <typename T>
void launchFast(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeFast<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeFast, "-", transposes, launchFast)
