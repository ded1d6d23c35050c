// What every kernel must produce, element by element, worked out from positions alone.
//
// A kernel moves elements by the index arithmetic of threads and tiles. The reference asks
// the opposite question, once per output element: which input element belongs here? Input
// elements carry a bit pattern computed from their position, so the expected output needs
// no second matrix, no second kernel and no transfer; the same functions run on the host
// and on the device.

#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

namespace harness {

enum class Produces { copy, transpose, tile_transpose, tile_move };

// What a kernel promises. `tile` is the side of its tiles, used by the last two kinds.
struct Expected {
    Produces what;
    int tile;
};

constexpr Expected copies{Produces::copy, 1};
constexpr Expected transposes{Produces::transpose, 1};
// Fine-grained: every tile is transposed where it stands.
constexpr Expected transposes_each_tile(int tile) { return {Produces::tile_transpose, tile}; }
// Coarse-grained: every tile goes to its transposed place, not transposed inside.
constexpr Expected moves_each_tile(int tile) { return {Produces::tile_move, tile}; }

// Columns of odata: idata is height x width; a transposed or tile-moved matrix is width x height.
HOST_DEVICE inline uint64_t output_columns(Expected e, uint64_t width, uint64_t height)
{
    return e.what == Produces::transpose || e.what == Produces::tile_move ? height : width;
}

// The index into idata (height x width, row-major) of the element that belongs at odata[o].
//
// Tiles that overhang the matrix cannot be turned or moved whole. For an element whose
// image would lie outside the matrix, the fine-grained half does nothing and the
// coarse-grained half does the full transpose, so that one after the other is the
// transpose for every shape.
HOST_DEVICE inline uint64_t source_index(Expected e, uint64_t o, uint64_t width, uint64_t height)
{
    const uint64_t columns = output_columns(e, width, height);
    const uint64_t row = o / columns, column = o % columns;
    const uint64_t tile = e.tile;
    switch (e.what) {
        case Produces::copy:
            return o;
        case Produces::transpose:
            return column * width + row;
        case Produces::tile_transpose: {
            const uint64_t x = column / tile * tile + row % tile;
            const uint64_t y = row / tile * tile + column % tile;
            return x < width && y < height ? y * width + x : o;
        }
        case Produces::tile_move: {
            const uint64_t x = row / tile * tile + column % tile;
            const uint64_t y = column / tile * tile + row % tile;
            return x < width && y < height ? y * width + x : column * width + row;
        }
    }
    return o;
}

// Invertible mixing of all bits: distinct positions get distinct patterns, and a pattern
// found in the wrong place tells where it came from.
HOST_DEVICE inline uint32_t mix32(uint32_t v)
{
    v = (v ^ (v >> 16)) * 0x7feb352du;
    v = (v ^ (v >> 15)) * 0x846ca68bu;
    return v ^ (v >> 16);
}

HOST_DEVICE inline uint64_t mix64(uint64_t v)
{
    v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93ull;
    v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93ull;
    return v ^ (v >> 32);
}

// The bits of input element `i` under `seed`. As many distinct patterns as the type has:
// in 4-byte types they repeat after 2^32 elements, in another order.
template <typename Bits>
HOST_DEVICE Bits pattern(uint64_t i, uint32_t seed);

template <>
HOST_DEVICE inline uint32_t pattern<uint32_t>(uint64_t i, uint32_t seed)
{
    return mix32(uint32_t(i) + mix32(uint32_t(i >> 32) + 0x9e3779b9u * (seed + 1)));
}

template <>
HOST_DEVICE inline uint64_t pattern<uint64_t>(uint64_t i, uint32_t seed)
{
    return mix64(i + 0x9e3779b97f4a7c15ull * (uint64_t(seed) + 1));
}

// The contents of a whole matrix: an input, an expected output, or the poison an output is
// filled with beforehand. The poison is the complement of the expected bits, so that an
// element nobody writes is wrong whatever was expected of it.
struct Contents {
    Expected expected;
    uint64_t width, height;  // of idata, in elements
    uint32_t seed;
    bool poison;

    HOST_DEVICE uint64_t elements() const { return width * height; }

    template <typename Bits>
    HOST_DEVICE Bits at(uint64_t o) const
    {
        const Bits bits = pattern<Bits>(source_index(expected, o, width, height), seed);
        return poison ? Bits(~bits) : bits;
    }
};

}  // namespace harness
