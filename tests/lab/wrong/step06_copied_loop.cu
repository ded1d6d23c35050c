// loses: partitions
// hint: busiest partition
//
// The looping blocks of step 4's variants: in rows.

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int GRID_DIM = 32;  // blocks in x and in y of the kernels that loop over the tiles

template <typename T>
__global__ void transposeDiagonalLoop(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    for (int top = blockIdx.y * TILE_DIM; top < height; top += gridDim.y * TILE_DIM)
        for (int left = blockIdx.x * TILE_DIM; left < width; left += gridDim.x * TILE_DIM) {
            int x = left + threadIdx.x;
            int y = top + threadIdx.y;
            if (x < width && y < height)
                tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];

            __syncthreads();

            x = top + threadIdx.x;
            y = left + threadIdx.y;
            if (x < height && y < width)
                odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];

            // The next turn refills the tile: all threads must be done reading it.
            __syncthreads();
        }
}

template <typename T>
void launchLoopingBlocks(T* odata, const T* idata, int width, int height)
{
    dim3 grid(GRID_DIM, GRID_DIM);
    dim3 block(TILE_DIM, TILE_DIM);
    LAUNCH(transposeDiagonalLoop<T>, grid, block)(odata, idata, width, height);
}

KERNEL(transposeDiagonalLoop, "-", transposes, launchLoopingBlocks)
