// Step 3, errata: a kernel with the faults that were published at this stage. It runs only when
// it is asked for.
//
//   make step03 && ./step03 --errata

#include "../common/step.h"

constexpr int BLOCK = 2;

// Threads outside the matrix return before the barrier. The others are numbered anew, so some
// write outside the matrix, and some read words of the tile that no thread has stored.
template <typename T>
__global__ void transposeRemapReturns(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[BLOCK * BLOCK];

    int x = blockIdx.x * BLOCK + threadIdx.x;
    int y = blockIdx.y * BLOCK + threadIdx.y;
    if (x >= width || y >= height)
        return;

    int tid = threadIdx.y * BLOCK + threadIdx.x;
    tile[tid] = idata[size_t(y) * width + x];

    __syncthreads();

    int col = tid / BLOCK;
    int row = tid % BLOCK;
    x = blockIdx.y * BLOCK + row;
    y = blockIdx.x * BLOCK + col;

    odata[size_t(y) * height + x] = tile[row * BLOCK + col];
}

template <typename T>
void launchRemapReturns(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + BLOCK - 1) / BLOCK, (height + BLOCK - 1) / BLOCK);
    transposeRemapReturns<T><<<grid, dim3(BLOCK, BLOCK)>>>(odata, idata, width, height);
}

KERNEL(transposeRemapReturns, "E12", transposes, launchRemapReturns)

ERRATUM(transposeRemapReturns, E12)
    .published_in("remap post")
    .caught_by("out-of-bounds-store")
    .corrected_by("transposeRemap")
    .shown_on(7, 4)
    .story("Published: a transpose through shared memory, for blocks of any shape. Threads outside the matrix return "
           "before the barrier, and the others are tested no more. At the edge a thread that stayed takes the place of "
           "one that left: of 4 rows x 7 columns, in blocks of 2 x 2, it stores 2 elements outside, reads 2 that were "
           "never stored in the tile, and leaves 2 of 28 wrong. The 4 x 8 matrix of the post has no such edge. What "
           "remains: the idea, with a test on each side of the barrier.");
