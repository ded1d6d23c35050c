// Step 5: take the transpose apart.
//
//   make step05 && ./step05
//
// A tiled transpose does two things. It transposes each tile in place, and it moves the tile
// to the other side of the diagonal. The fine-grained kernel does only the first, so every
// element stays in its tile. The coarse-grained kernel does only the second. Their times show
// what each costs. Neither makes a transpose. One after the other, they do what step 4 does.
//
// A tile that the matrix edge cuts off has no transposed place of the same shape. There,
// the fine-grained kernel leaves an element in place if its mirror image lies outside the
// matrix, and the coarse-grained kernel transposes that element.

#include "../common/step.h"

constexpr int TILE_DIM = 32;   // a block moves one tile of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // with TILE_DIM x BLOCK_ROWS threads: four elements per thread

template <typename T>
__global__ void transposeFineGrained(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // Below, a thread reads what other threads wrote: all of them must be done writing.
    __syncthreads();

    // (mx + j, my) is the mirror image of (x, y + j) in the tile's diagonal.
    int mx = blockIdx.x * TILE_DIM + threadIdx.y;
    int my = blockIdx.y * TILE_DIM + threadIdx.x;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) {
            if (mx + j < width && my < height)
                odata[size_t(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
            else
                odata[size_t(y + j) * width + x] = tile[threadIdx.y + j][threadIdx.x];
        }
}

template <typename T>
void launchFineGrained(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeFineGrained<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeFineGrained, "W6", transposes_each_tile(TILE_DIM), launchFineGrained)

template <typename T>
__global__ void transposeCoarseGrained(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];

    // In a whole tile a thread reads only what it wrote itself. Where the edge cuts a tile off, it reads what other
    // threads wrote: all of them must be done writing.
    __syncthreads();

    // (ox, oy + j) is where the thread writes in odata, height wide: the transposed tile.
    int ox = blockIdx.y * TILE_DIM + threadIdx.x;
    int oy = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (ox < height && oy + j < width) {
            if (x < width && y + j < height)
                odata[size_t(oy + j) * height + ox] = tile[threadIdx.y + j][threadIdx.x];
            else
                odata[size_t(oy + j) * height + ox] = tile[threadIdx.x][threadIdx.y + j];
        }
}

template <typename T>
void launchCoarseGrained(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeCoarseGrained<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeCoarseGrained, "W7", moves_each_tile(TILE_DIM), launchCoarseGrained)
