// Exercise 9: a transpose over several GPUs.
//
//   make lab09
//
// GPU `me` has some rows of idata, and each GPU needs some rows of odata. The kernel below is right. It sends single
// elements, and all GPUs send to GPU 0 first, then all to GPU 1, and so on. Let rows of 32 floats cross, by way of
// a tile, and let every GPU receive at all times. A block may have 4096 bytes of shared memory, a tile of 32 x 32
// floats. That leaves no room for padding. Avoid bank conflicts as in exercise 4.
//
// odata.part[g] is where GPU g's rows of odata lie. Of n rows, those of GPU g begin at first_row(n, g, gpus).

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves TILE_DIM x TILE_DIM elements to one GPU
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void transposeExchange(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    // TODO: an order in which each GPU begins with another receiver.
    int peer = blockIdx.z;

    int rows = first_row(height, me, gpus), rows_end = first_row(height, me + 1, gpus);          // of idata, here
    int columns = first_row(width, peer, gpus), columns_end = first_row(width, peer + 1, gpus);  // of odata, there

    int x = columns + blockIdx.x * TILE_DIM + threadIdx.x;
    int y = rows + blockIdx.y * TILE_DIM + threadIdx.y;

    // TODO: neighbouring lanes store to different rows of odata. Let them store to one.
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < columns_end && y + j < rows_end)
            odata.part[peer][size_t(x - columns) * height + y + j] = idata[size_t(y + j - rows) * width + x];
}

// Called for each GPU. Blocks begin in the order of x, then y, then z.
template <typename T>
void launchExchange(Parts<T> odata, const T* idata, int width, int height, int me, int gpus)
{
    int columns = (width + gpus - 1) / gpus, rows = (height + gpus - 1) / gpus;  // of the GPU that has most
    dim3 grid((columns + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM, gpus);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeExchange<T><<<grid, block>>>(odata, idata, width, height, me, gpus);
}

KERNEL(transposeExchange, "-", transposes, launchExchange)
