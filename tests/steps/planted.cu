// Kernels that are wrong in the ways kernels go wrong, for every kind of expected result: the
// harness must refuse each of them, and accept the right one beside them. tests/steps/test_planted.py
// runs them all; they are no part of any step.

#include "common/step.h"

namespace {

constexpr int TILE_DIM = 32;    // of the fine- and coarse-grained kinds
constexpr int BLOCK_DIM = 16;   // blocks of BLOCK_DIM x BLOCK_DIM threads, one per output element

enum Fault {
    right,
    rightThroughTile,   // right, and goes through shared memory with a barrier
    forgetBarrier,      // the same without the barrier
    writeNothing,
    wrongKind,          // a copy where a transpose is due, and the other way round
    dropLastRow,
    dropLastColumn,
    swapTwo,            // two neighbours in the middle of the matrix
    offByOneTile,       // the contents of the tile to the right
    writeBehind,        // right, and one element behind the last
    writeInFront,       // right, and one element in front of the first
    overwriteInput,     // right, and an element of the input besides
    rightOnce,          // right in the first pass only
};

template <typename T, int FAULT>
__global__ void planted(T* odata, const T* idata, int width, int height, harness::Expected expected, int pass)
{
    __shared__ T tile[BLOCK_DIM * BLOCK_DIM];

    const size_t columns = harness::output_columns(expected, width, height);
    const size_t rows = size_t(width) * height / columns;
    const size_t column = blockIdx.x * BLOCK_DIM + threadIdx.x, row = blockIdx.y * BLOCK_DIM + threadIdx.y;
    const bool inside = column < columns && row < rows;
    const size_t o = row * columns + column;
    const size_t source = inside ? harness::source_index(expected, o, width, height) : 0;

    if (FAULT == rightThroughTile || FAULT == forgetBarrier) {
        // Each thread loads the element of its mirror image in the block.
        const int self = threadIdx.y * BLOCK_DIM + threadIdx.x, mirror = BLOCK_DIM * BLOCK_DIM - 1 - self;
        const size_t c = blockIdx.x * BLOCK_DIM + mirror % BLOCK_DIM, r = blockIdx.y * BLOCK_DIM + mirror / BLOCK_DIM;
        if (c < columns && r < rows)
            tile[self] = idata[harness::source_index(expected, r * columns + c, width, height)];
        if (FAULT == rightThroughTile) __syncthreads();
        if (inside) odata[o] = tile[mirror];
        return;
    }
    if (!inside || FAULT == writeNothing) return;
    if (FAULT == dropLastRow && row == rows - 1) return;
    if (FAULT == dropLastColumn && column == columns - 1) return;

    const size_t middle = size_t(width) * height / 2;
    if (FAULT == wrongKind) {
        const harness::Expected other{expected.what == harness::Produces::copy ? harness::Produces::transpose
                                                                               : harness::Produces::copy};
        odata[o] = idata[harness::source_index(other, o, width, height)];
    } else if (FAULT == swapTwo && (o == middle || o == middle - 1)) {
        odata[o == middle ? middle - 1 : middle] = idata[source];
    } else if (FAULT == offByOneTile) {
        odata[o] = idata[harness::source_index(expected, row * columns + (column + TILE_DIM) % columns, width, height)];
    } else if (FAULT == rightOnce && pass > 1 && o == middle) {
        odata[o] = idata[0];
    } else {
        odata[o] = idata[source];
    }
    if (FAULT == writeBehind && o == 0) odata[size_t(width) * height] = idata[0];
    if (FAULT == writeInFront && o == 0) odata[-1] = idata[0];
    if (FAULT == overwriteInput && o == 0) const_cast<T*>(idata)[middle] = idata[0];
}

template <int FAULT, typename T>
void launchPlanted(T* odata, const T* idata, int width, int height, harness::Expected expected)
{
    static int pass = 0;
    const int columns = int(harness::output_columns(expected, width, height));
    const int rows = columns == width ? height : width;
    dim3 grid((columns + BLOCK_DIM - 1) / BLOCK_DIM, (rows + BLOCK_DIM - 1) / BLOCK_DIM);
    dim3 block(BLOCK_DIM, BLOCK_DIM);
    auto kernel = planted<T, FAULT>;
    kernel<<<grid, block>>>(odata, idata, width, height, expected, ++pass);
}

}  // namespace

#define PLANT(kind, fault, expected)                                                    \
    template <typename T>                                                               \
    static void launch_##kind##_##fault(T* odata, const T* idata, int width, int height) \
    {                                                                                   \
        launchPlanted<fault>(odata, idata, width, height, expected);                    \
    }                                                                                   \
    KERNEL(kind##_##fault, "-", expected, launch_##kind##_##fault)

#define PLANT_ALL(kind, expected)             \
    PLANT(kind, right, expected)              \
    PLANT(kind, rightThroughTile, expected)   \
    PLANT(kind, forgetBarrier, expected)      \
    PLANT(kind, writeNothing, expected)       \
    PLANT(kind, wrongKind, expected)          \
    PLANT(kind, dropLastRow, expected)        \
    PLANT(kind, dropLastColumn, expected)     \
    PLANT(kind, swapTwo, expected)            \
    PLANT(kind, offByOneTile, expected)       \
    PLANT(kind, writeBehind, expected)        \
    PLANT(kind, writeInFront, expected)       \
    PLANT(kind, overwriteInput, expected)     \
    PLANT(kind, rightOnce, expected)

PLANT_ALL(copy, copies)
PLANT_ALL(transpose, transposes)
PLANT_ALL(fine, transposes_each_tile(TILE_DIM))
PLANT_ALL(coarse, moves_each_tile(TILE_DIM))
