// Step 4, errata: kernels with the faults that were published at this stage. None of them is
// part of a run unless it is asked for.
//
//   make step04 && ./step04 --errata

#include "../common/step.h"

constexpr int TILE_DIM = 32;
constexpr int BLOCK_ROWS = 8;
constexpr int GRID_DIM = 32;
constexpr int NUM_REPS = 3;

// Blocks loop over the tiles, without a barrier at the end of a turn.
template <typename T>
__global__ void transposeLoopingRace(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    for (int top = blockIdx.y * TILE_DIM; top < height; top += gridDim.y * TILE_DIM)
        for (int left = blockIdx.x * TILE_DIM; left < width; left += gridDim.x * TILE_DIM) {
            int x = left + threadIdx.x;
            int y = top + threadIdx.y;
            if (x < width && y < height)
                tile[threadIdx.y][threadIdx.x] = idata[size_t(y) * width + x];  // fills the tile again

            __syncthreads();

            x = top + threadIdx.x;
            y = left + threadIdx.y;
            if (x < height && y < width)
                odata[size_t(y) * height + x] = tile[threadIdx.x][threadIdx.y];  // may still be reading it
        }
}

template <typename T>
void launchLoopingRace(T* odata, const T* idata, int width, int height)
{
    transposeLoopingRace<T><<<dim3(GRID_DIM, GRID_DIM), dim3(TILE_DIM, TILE_DIM)>>>(odata, idata, width, height);
}

KERNEL(transposeLoopingRace, "E2", transposes, launchLoopingRace)

ERRATUM(transposeLoopingRace, E2)
    .published_in("book 9.7")
    .caught_by("race")
    .corrected_by("transposeLoopingBlocks")
    .shown_on(1100, 40)
    .story("Published: a fixed number of blocks that loop over the tiles beats a block per tile, at 8192 x 8192 "
           "by a quarter (Table 9.3). There is no barrier between reading the tile and filling it for the next "
           "turn: a warp that is ahead overwrites what another has yet to read. What remains: the conclusion, on "
           "an H200. There the corrected kernel is 1.12 and 1.14 times as fast at 4096 x 4096 and 8192 x 8192 "
           "(plots/data/h200_book.csv). The book's own times are those of a kernel without a barrier that it "
           "needs. Both kernels right, and with equal tiles and blocks: ./step04 --kernel "
           "transposeLoopingBlocks,transposeTile32Padded.");

// The whole kernel in a loop, to time it without the cost of launches. There is no barrier
// between two passes.
template <typename T>
__global__ void transposeRepeatedRace(T* odata, const T* idata, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int ox = blockIdx.y * TILE_DIM + threadIdx.x;
    int oy = blockIdx.x * TILE_DIM + threadIdx.y;

    for (int pass = 0; pass < NUM_REPS; ++pass) {
        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (x < width && y + j < height)
                tile[threadIdx.y + j][threadIdx.x] = idata[size_t(y + j) * width + x];  // fills the tile again

        __syncthreads();

        for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
            if (ox < height && oy + j < width)
                odata[size_t(oy + j) * height + ox] = tile[threadIdx.x][threadIdx.y + j];  // may still be reading it
    }
}

template <typename T>
void launchRepeatedRace(T* odata, const T* idata, int width, int height)
{
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transposeRepeatedRace<T><<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(odata, idata, width, height);
}

KERNEL(transposeRepeatedRace, "E3", transposes_repeatedly(NUM_REPS), launchRepeatedRace)

ERRATUM(transposeRepeatedRace, E3)
    .published_in("whitepaper, and its translation")
    .caught_by("race")
    .corrected_by("transposeRepeated")
    .shown_on(100, 70)
    .story("Published: a second column of bandwidths, of kernels that repeat themselves in a loop. Four of them read "
           "what other threads stored in the tile: coalesced, bank conflict free, fine-grained and diagonal. There a "
           "pass may begin before all threads are done with the last. In the shared memory copy and the coarse-grained "
           "kernel a thread reads only what it stored itself, and nothing races. The translation adds a barrier to the "
           "fine-grained kernel, which needs it, and to the coarse-grained one, which does not. Every pass computes "
           "the same, so the race does not show in the result. What remains: the traffic, which is the same; the times "
           "are without a barrier per pass that a correct kernel pays for.");

ERRATUM(transposeTile16Padded, E11)
    .published_in("book 9.4")
    .caught_by("bank-conflicts")
    .corrected_by("transposeTile16Swizzled")
    .shown_on(64, 64)
    .story("Published: padding the tile to 16 x 17 removes the bank conflicts, and hardly matters for large "
           "matrices. A warp covers two rows of this tile, and on 32 banks they overlap: two wavefronts where one "
           "would do, for loads and stores alike. The book's card, a K20c, has banks of 8 bytes. There the padding "
           "lowers a load from 4 wavefronts to 2 and raises a store from 1 to 1.5: 5 become 3.5, a small gain "
           "(--machine k20c). Half-warps on 16 banks, as the card of the whitepaper had them, do not conflict. What "
           "remains: the times. Conflicts were compared with conflicts, not with none. A tile of 16 x 16 without any "
           "is no faster on an H200 (plots/data/h200_steps.csv): blocks this small are held up elsewhere.");
