// Step 2, errata: kernels with the faults that were published at this stage. They run only
// when they are asked for.
//
//   make step02 && ./step02 --errata

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;
constexpr int SMALL_TILE = 16;

// A thread's column is not reset when its block moves on to the next row. It lies past the
// end of the row by then, so the block transposes one row only.
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

KERNEL(transposeRow1DOnce, "E1", transposes, launchRow1DOnce)

ERRATUM(transposeRow1DOnce, E1)
    .published_in("book 9.2")
    .caught_by("wrong-result")
    .corrected_by("transposeRow1D")
    .shown_on(64, 1024)
    .story("Published: in one dimension the transpose beats all two-dimensional kernels on large matrices, at "
           "8192 x 8192 by a factor of 2.9. The inner index is not reset when a block moves on to its next row, "
           "so that its 512 blocks transpose 512 rows: half the work at 1024, a sixteenth at 8192. A figure of "
           "the book gives it away: 127.43 MiB per ms at 8192, the matrix counted once, are an effective "
           "bandwidth of 267.2 GB/s, on a card whose memory has a peak of 208 (E21). What remains: the times up "
           "to 512 x 512, where 2D was ahead. The finding that 1D wins is an artefact. Done in full, on an H200 "
           "from 2048 on, gpu_1_1 still beats the naive 2D kernel, and both 1D kernels lose to the tiled ones "
           "(plots/data/h200_book.csv).");

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

KERNEL(transposeRowUnrolledUntested, "E6", transposes, launchRowUnrolledUntested)

ERRATUM(transposeRowUnrolledUntested, E6)
    .published_in("bandwidth post")
    .caught_by("out-of-bounds-store")
    .corrected_by("transposeRowUnrolled")
    .shown_on(100, 70)
    .story("Published: the fastest kernels of the table. They test the first of a thread's four elements and take the "
           "others on trust: where the width is no multiple of four blocks they read and write beyond the matrix. "
           "What remains: the times, at 4096, which is such a multiple.");

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

KERNEL(transposeNaiveRowOffset, "E8", transposes, launchNaiveRowOffset)

ERRATUM(transposeNaiveRowOffset, E8)
    .published_in("whitepaper's translation, extra program")
    .caught_by("wrong-result")
    .corrected_by("transposeNaive")
    .shown_on(64, 64)
    .story("Published: a naive transpose as a complete program. The offset of the rows that a thread goes on to is "
           "multiplied by the height, as if it moved down odata; that is right while BLOCK_ROWS equals TILE_DIM and "
           "there is no such row. What remains: the program as it is first printed.");

// The later listing: blocks of 16 x 16 threads, of which each goes on to a second row of the next 8.
template <typename T>
__global__ void transposeNaiveRowOffset16(T* odata, const T* idata, int width, int height)
{
    int x = blockIdx.x * SMALL_TILE + threadIdx.x;
    int y = blockIdx.y * SMALL_TILE + threadIdx.y;

    for (int j = 0; j < SMALL_TILE; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            odata[size_t(x) * height + y + size_t(j) * height] = idata[size_t(y + j) * width + x];
}

template <typename T>
void launchNaiveRowOffset16(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + SMALL_TILE - 1) / SMALL_TILE, (height + SMALL_TILE - 1) / SMALL_TILE);
    dim3 block(SMALL_TILE, SMALL_TILE);
    transposeNaiveRowOffset16<T><<<grid, block>>>(odata, idata, width, height);
}

KERNEL(transposeNaiveRowOffset16, "E8", transposes, launchNaiveRowOffset16)

ERRATUM(transposeNaiveRowOffset16, E8)
    .published_in("whitepaper's translation, later listing")
    .caught_by("out-of-bounds-store")
    .corrected_by("transposeNaive")
    .shown_on(32, 32)
    .story("Published: the same program with BLOCK_ROWS = 8, and an output that is printed and not checked. Its "
           "blocks have 16 x 16 threads. The row offset now takes effect: of a 32 x 32 matrix 576 elements are "
           "written twice, with two values, and 192 stores miss it. What remains: nothing. All 1024 elements on "
           "the screen are no check.");

// The offset of an element in a type that is too narrow for it. In the sources it is an int or an unsigned int, too
// narrow past 2^31 and 2^32 elements; here it is a short or an unsigned short, and 2^15 and 2^16 are enough.
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

KERNEL(transposeShortIndex, "E10", transposes, launchShortIndex)

ERRATUM(transposeShortIndex, E10)
    .published_in("whitepaper, book, bandwidth post and coalescing notes")
    .caught_by("out-of-bounds-store")
    .corrected_by("transposeNaive")
    .shown_on(200, 200)
    .story("Published: kernels for matrices of any size. All of the whitepaper's and of the two posts', and the book's "
           "1D and diagonal ones, compute an element's offset as an int, which ends at 2^31 - 1. From 46341 x 46341 "
           "on, 8.6 GB of floats, it turns negative. The kernel shown has the same fault in a short, at a size that "
           "fits a laptop. What remains: everything, for matrices that fit the cards of the time.");

template <typename T>
void launchUnsignedShortIndex(T* odata, const T* idata, int width, int height)
{
    auto kernel = transposeNarrowIndex<T, unsigned short>;
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    kernel<<<grid, dim3(TILE_DIM, TILE_DIM)>>>(odata, idata, width, height);
}

KERNEL(transposeUnsignedShortIndex, "E10", transposes, launchUnsignedShortIndex)

ERRATUM(transposeUnsignedShortIndex, E10)
    .published_in("book and remap post")
    .caught_by("wrong-result")
    .corrected_by("transposeNaive")
    .shown_on(256, 300)
    .story("Published: kernels for matrices of any size. The book's 2D, tiled and looping kernels and the remap post's "
           "compute the offset as an unsigned int. It lasts up to 65536 x 65536, and wraps round beyond. Nothing "
           "leaves the matrix then, and the last elements take the place of the first. The kernel shown does so in an "
           "unsigned short: 11264 elements too many, so that as many are never written, and others are written twice. "
           "What remains: everything, up to 17 GB of floats.");

// 1D, by columns of idata: width and height have changed places in the offsets and in the limit of the loop.
template <typename T>
__global__ void transposeCol1DExchanged(T* odata, const T* idata, int width, int height)
{
    for (int x = blockIdx.x; x < height; x += gridDim.x)
        for (int y = threadIdx.x; y < width; y += blockDim.x)
            odata[size_t(x) * width + y] = idata[size_t(y) * height + x];
}

template <typename T>
void launchCol1DExchanged(T* odata, const T* idata, int width, int height)
{
    transposeCol1DExchanged<T><<<512, 512>>>(odata, idata, width, height);
}

KERNEL(transposeCol1DExchanged, "E13", transposes, launchCol1DExchanged)

ERRATUM(transposeCol1DExchanged, E13)
    .published_in("book 9.2")
    .caught_by("wrong-result")
    .corrected_by("transposeCol1D")
    .shown_on(70, 50)
    .story("Published: gpu_1_1, a 1D transpose of an m x n matrix that writes contiguously. As in the serial function "
           "it is made from (E9), m and n are exchanged: of a matrix of 50 x 70, 3498 of 3500 elements are wrong. "
           "Squares are right, and only squares were run. What remains: the times, for the rows that E1 leaves.");

// A block for each row of idata, side by side in y: there CUDA allows 65535 of them.
template <typename T>
__global__ void transposeBlockPerRow(T* odata, const T* idata, int width, int height)
{
    for (int x = threadIdx.x; x < width; x += blockDim.x)
        odata[size_t(x) * height + blockIdx.y] = idata[size_t(blockIdx.y) * width + x];
}

template <typename T>
void launchBlockPerRow(T* odata, const T* idata, int width, int height)
{
    transposeBlockPerRow<T><<<dim3(1, height), 32>>>(odata, idata, width, height);
}

KERNEL(transposeBlockPerRow, "E19", transposes, launchBlockPerRow)

ERRATUM(transposeBlockPerRow, E19)
    .published_in("book 15.8")
    .caught_by("refused-launch")
    .corrected_by("transposeRow1D")
    .shown_on(2, 16 * 8192)
    .story("Published: many threads cost less than loops, because 16 x 8192 blocks take only 3 us. The book's own "
           "time for a launch that does nothing is 6 us (17.4), and its compiler's default, sm_10, allows 65535 "
           "blocks. The launch probably failed. No error was asked for, and the clock then timed nothing. The "
           "kernel shown asks for as many blocks in y, where the limit is 65535 to this day. What remains: no "
           "figure, and no preference. Every launch is to be checked before it is timed.");
