// Step 2, errata: kernels with the faults that were published at this stage. None of them is
// part of a run unless it is asked for.
//
//   make step02 && ./step02 --errata

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;

// The column a thread is at is not set back when its block goes on to another row: by then it
// lies behind the end of the row, and the block is done.
template <typename T>
__global__ void transposeRow1DOnce(T* odata, const T* idata, int width, int height)
{
    int x = threadIdx.x;
    for (int y = blockIdx.x; y < height; y += gridDim.x)
        for (; x < width; x += blockDim.x)
            odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchRow1DOnce(T* odata, const T* idata, int width, int height)
{
    transposeRow1DOnce<T><<<512, 512>>>(odata, idata, width, height);
}

ERRATUM(transposeRow1DOnce, "E1", "book 9.2", transposes, launchRow1DOnce, "wrong result", "transposeRow1D", 64, 1024,
        "Published: in one dimension the transpose beats all two-dimensional kernels on large matrices, at 8192 x "
        "8192 by a factor of three. The inner index is not reset when a block moves on to its next row, so that "
        "its 512 blocks transpose 512 rows: half the work at 1024, a sixteenth at 8192. What is left: the times up "
        "to 512 x 512, where 2D was ahead. The finding that 1D wins is an artefact; done in full, both 1D kernels "
        "lose to the tiled ones on an H200 from 1024 on (plots/data/h200_book.csv).")

// Only the first of the four elements is tested against the edge.
template <typename T>
__global__ void transposeRowUnrolledUntested(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        for (int k = 0; k < 4; ++k, x += blockDim.x)
            odata[size_t(x) * height + y] = idata[size_t(y) * width + x];
}

template <typename T>
void launchRowUnrolledUntested(T* odata, const T* idata, int width, int height)
{
    dim3 block(32, 32);
    dim3 grid((width + 4 * block.x - 1) / (4 * block.x), (height + block.y - 1) / block.y);
    transposeRowUnrolledUntested<T><<<grid, block>>>(odata, idata, width, height);
}

ERRATUM(transposeRowUnrolledUntested, "E6", "bandwidth post", transposes, launchRowUnrolledUntested, "out-of-bounds",
        "transposeRowUnrolled", 100, 70,
        "Published: the fastest kernels of the table. They test the first of a thread's four elements and take the "
        "others on trust: where the width is no multiple of four blocks they read and write beyond the matrix. "
        "What is left: the times, at 4096, which is such a multiple.")

// The row of the output is counted twice: j belongs to the column of odata, not to its row.
template <typename T>
__global__ void transposeNaiveRowOffset(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(x) * height + y + size_t(j) * height] = idata[size_t(y + j) * width + x];
}

template <typename T>
void launchNaiveRowOffset(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    dim3 block(TILE_DIM, BLOCK_ROWS);
    transposeNaiveRowOffset<T><<<grid, block>>>(odata, idata, width, height);
}

ERRATUM(transposeNaiveRowOffset, "E8", "whitepaper's translation, extra program", transposes, launchNaiveRowOffset,
        "wrong result", "transposeNaive", 64, 64,
        "Published: a naive transpose as a complete program. The offset of the rows that a thread goes on to is "
        "multiplied by the height, as if it moved down odata; that is right while BLOCK_ROWS equals TILE_DIM and "
        "there is no such row. A later listing takes BLOCK_ROWS = 8 and prints the result unchecked. What is left: "
        "the program as it is first printed.")

// The offset of an element in a type that is too narrow for it. In the sources it is an int, and
// too narrow past 2^31 elements; here it is a short, and 2^15 are enough.
template <typename T, typename Index>
__global__ void transposeNarrowIndex(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;

    if (x < width && y < height) {
        Index from = y * width + x;
        Index to = x * height + y;
        odata[to] = idata[from];
    }
}

template <typename T>
void launchShortIndex(T* odata, const T* idata, int width, int height)
{
    auto kernel = transposeNarrowIndex<T, short>;
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    kernel<<<grid, dim3(TILE_DIM, TILE_DIM)>>>(odata, idata, width, height);
}

ERRATUM(transposeShortIndex, "E10", "all sources", transposes, launchShortIndex, "out-of-bounds",
        "transposeNaive", 200, 200,
        "Published: kernels for matrices of any size. All of them compute an element's offset as an int, which "
        "ends at 2^31 - 1: from 46341 x 46341 on, 8.6 GB of floats, it turns negative. The kernel shown has the "
        "same fault in a short, at a size that fits a laptop. What is left: everything, for matrices that fit the "
        "cards of the time.")
