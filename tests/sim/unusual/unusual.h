// Right kernels of unusual form. The simulator must verify each of them, at any shape, without a
// finding: tests/sim/test_unusual.py. What the files share is here; launches are in the files.

#pragma once

#define ELEMENT_TYPES void, void, float, double, int, void  // these kernels compute
#include "common/step.h"

// The kernels and their launchers have the parameters of a transpose.
#define TRANSPOSING(name) \
    template <typename T> \
    __global__ void name(T* odata, const T* idata, int width, int height)
#define LAUNCHER(name) \
    template <typename T> \
    void name(T* odata, const T* idata, int width, int height)

constexpr int TILE_DIM = 32;   // tiles of TILE_DIM x TILE_DIM elements
constexpr int BLOCK_ROWS = 8;  // and TILE_DIM x BLOCK_ROWS threads
constexpr int THREADS = 128;   // of the one-dimensional blocks

// How many pieces of `size` elements hold `count` elements. The last piece may be smaller.
constexpr unsigned pieces(size_t count, size_t size) { return unsigned((count + size - 1) / size); }

// One thread per element, in the order of memory.
template <auto kernel, typename T>
void launchAlong(T* odata, const T* idata, int width, int height)
{
    kernel<<<pieces(size_t(width) * height, THREADS), THREADS>>>(odata, idata, width, height);
}

// One block of TILE_DIM x BLOCK_ROWS threads per tile.
template <auto kernel, typename T>
void launchTiles(T* odata, const T* idata, int width, int height)
{
    dim3 grid(pieces(width, TILE_DIM), pieces(height, TILE_DIM));
    dim3 block(TILE_DIM, BLOCK_ROWS);
    kernel<<<grid, block>>>(odata, idata, width, height);
}
