// The result that every kernel must produce, element by element, worked out from positions alone.
//
// A kernel moves elements by the index arithmetic of threads and tiles. The reference asks
// the opposite question, once per output element: which input element belongs here? Input
// elements carry a bit pattern computed from their position, so the expected output needs
// no second matrix, no second kernel and no transfer; the same functions run on the host
// and on the device.

#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

namespace harness {

// Types of elements: char, half, float, double, int, and double2, which is a pair of doubles.
enum class Type { i8, f16, f32, f64, i32, f64x2 };

using uint128_t = unsigned __int128;

// Calls f with a zero of the unsigned integer that is as wide as an element.
template <typename F>
auto with_bits(Type type, F f)
{
    switch (type) {
        case Type::i8: return f(uint8_t());
        case Type::f16: return f(uint16_t());
        case Type::f64: return f(uint64_t());
        case Type::f64x2: return f(uint128_t());
        case Type::f32:
        case Type::i32: break;
    }
    return f(uint32_t());
}

HOST_DEVICE constexpr uint64_t bytes_of(Type type)
{
    return type == Type::i8 ? 1 : type == Type::f16 ? 2 : type == Type::f64 ? 8 : type == Type::f64x2 ? 16 : 4;
}

enum class Produces { copy, transpose, tile_transpose, tile_move, pieces, sum, sum_with_first, nothing };

// The result that a kernel promises. `tile`: the side of its tiles, where they matter; of pieces, the number of GPUs.
// `pad_bytes`: the unused bytes at the end of each row of odata, which must stay as they were. `passes`: how
// often the kernel does all its work in one launch. `finite`: only finite numbers come out as they
// went in, because the kernel computes with them; all contenders are then given such numbers.
struct Expected {
    Produces what;
    int tile = 1;
    int pad_bytes = 0;
    int passes = 1;
    bool finite = false;

    // Matrices that idata is made of, one after the other.
    HOST_DEVICE constexpr int operands() const
    {
        return what == Produces::sum || what == Produces::sum_with_first ? 2 : 1;
    }
    // Elements read and written for each element of the matrix.
    HOST_DEVICE constexpr int traffic() const
    {
        const bool none = what == Produces::nothing || what == Produces::pieces;
        return passes * (none ? 0 : what == Produces::sum ? 3 : 2);
    }
};

constexpr Expected copies{Produces::copy};
constexpr Expected transposes{Produces::transpose};
// Fine-grained: every tile is transposed where it stands.
constexpr Expected transposes_each_tile(int tile) { return {Produces::tile_transpose, tile}; }
// Coarse-grained: every tile goes to its transposed place, not transposed inside.
constexpr Expected moves_each_tile(int tile) { return {Produces::tile_move, tile}; }
// The transpose in rows that are longer than they need to be.
constexpr Expected transposes_with_padded_rows(int pad_bytes) { return {Produces::transpose, 1, pad_bytes}; }
// The transpose, of finite numbers.
constexpr Expected transposes_numbers{Produces::transpose, 1, 0, 1, true};
// The transpose, made so many times over.
constexpr Expected transposes_repeatedly(int passes) { return {Produces::transpose, 1, 0, passes}; }
// z[i] = x[i] + y[i] and z[i] = x[0] + y[i], where idata is x and, right behind it, y.
constexpr Expected adds{Produces::sum};
constexpr Expected adds_first{Produces::sum_with_first};
constexpr Expected writes_nothing{Produces::nothing};
// For a matrix that is spread over several GPUs. Each sends a piece of its idata to each other one, as long as the
// piece that a transpose sends.
constexpr Expected copies_to_peers{Produces::pieces};

// Columns of odata: idata is height x width; a transposed or tile-moved matrix is width x height.
HOST_DEVICE constexpr uint64_t output_columns(Expected e, uint64_t width, uint64_t height)
{
    const bool turned = e.what == Produces::transpose || e.what == Produces::tile_move || e.what == Produces::pieces;
    return turned ? height : width;
}

// n rows are spread evenly over GPUs. Those of GPU g begin here, and end where those of the next begin.
HOST_DEVICE constexpr int first_row(int n, int g, int gpus) { return int((long long)n * g / gpus); }

HOST_DEVICE constexpr int gpu_with_row(int n, int row, int gpus)
{
    int g = 0;
    while (first_row(n, g + 1, gpus) <= row) ++g;
    return g;
}

// The index into idata of what a GPU copies to odata[o] of another, or `none` where odata[o] is the GPU's own. A GPU's
// rows of odata begin with the piece from GPU 0. A piece begins where its sender's rows of idata do.
HOST_DEVICE constexpr uint64_t source_of_piece(uint64_t o, uint64_t width, uint64_t height, int gpus, uint64_t none)
{
    const int to = gpu_with_row(int(width), int(o / height), gpus), first = first_row(int(width), to, gpus);
    const uint64_t rows = first_row(int(width), to + 1, gpus) - first, o_here = o - first * height;
    const int from = gpu_with_row(int(height), int(o_here / rows), gpus);
    const uint64_t begin = first_row(int(height), from, gpus);
    return from == to ? none : begin * width + o_here - begin * rows;
}

// The index into idata (height x width, row-major) of the element that belongs at odata[o],
// padding aside. Of a sum: that of its second term in y.
//
// Tiles that overhang the matrix cannot be turned or moved whole. For an element whose
// image would lie outside the matrix, the fine-grained half does nothing and the
// coarse-grained half does the full transpose, so that one after the other is the
// transpose for every shape.
HOST_DEVICE constexpr uint64_t source_index(Expected e, uint64_t o, uint64_t width, uint64_t height)
{
    const uint64_t columns = output_columns(e, width, height);
    const uint64_t row = o / columns, column = o % columns;
    const uint64_t tile = e.tile;
    switch (e.what) {
        case Produces::pieces:
            return source_of_piece(o, width, height, e.tile, o);
        case Produces::copy:
        case Produces::sum:
        case Produces::sum_with_first:
        case Produces::nothing:
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

HOST_DEVICE inline uint8_t mix8(uint8_t v)
{
    v = uint8_t((v ^ (v >> 4)) * 0x6du);
    v = uint8_t((v ^ (v >> 3)) * 0xb5u);
    return uint8_t(v ^ (v >> 4));
}

HOST_DEVICE inline uint16_t mix16(uint16_t v)
{
    v = uint16_t((v ^ (v >> 8)) * 0x88b5u);
    v = uint16_t((v ^ (v >> 7)) * 0xdb2du);
    return uint16_t(v ^ (v >> 9));
}

HOST_DEVICE inline uint64_t mix64(uint64_t v)
{
    v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93ull;
    v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93ull;
    return v ^ (v >> 32);
}

// Seeds from here on are secret: this file and some elements of a matrix do not tell the other elements.
constexpr uint32_t first_secret_seed = 1 << 16;

// The second mixing of a secret seed.
template <typename Bits>
HOST_DEVICE inline Bits second_key(uint32_t seed)
{
    return Bits(mix64((uint64_t(seed) << 32 | ~seed) * 0x9e3779b97f4a7c15ull));
}

// The bits of input element `i` under `seed`. As many distinct patterns as the type has:
// in types of n < 64 bits they repeat after 2^n elements, in another order.
template <typename Bits>
HOST_DEVICE Bits pattern(uint64_t i, uint32_t seed);

template <>
HOST_DEVICE inline uint32_t pattern<uint32_t>(uint64_t i, uint32_t seed)
{
    const uint32_t bits = mix32(uint32_t(i) + mix32(uint32_t(i >> 32) + 0x9e3779b9u * (seed + 1)));
    return seed < first_secret_seed ? bits : mix32(bits + second_key<uint32_t>(seed));
}

template <>
HOST_DEVICE inline uint64_t pattern<uint64_t>(uint64_t i, uint32_t seed)
{
    const uint64_t bits = mix64(i + 0x9e3779b97f4a7c15ull * (uint64_t(seed) + 1));
    return seed < first_secret_seed ? bits : mix64(bits + second_key<uint64_t>(seed));
}

template <>
HOST_DEVICE inline uint8_t pattern<uint8_t>(uint64_t i, uint32_t seed)
{
    return mix8(uint8_t(i + pattern<uint32_t>(i >> 8, seed)));
}

template <>
HOST_DEVICE inline uint16_t pattern<uint16_t>(uint64_t i, uint32_t seed)
{
    return mix16(uint16_t(i + pattern<uint32_t>(i >> 16, seed)));
}

template <>
HOST_DEVICE inline uint128_t pattern<uint128_t>(uint64_t i, uint32_t seed)
{
    return uint128_t(pattern<uint64_t>(i, ~seed)) << 64 | pattern<uint64_t>(i, seed);
}

// Terms of sums are whole numbers, so that floating-point sums are exact.
HOST_DEVICE inline int32_t term(uint64_t i, uint32_t seed) { return int32_t(pattern<uint32_t>(i, seed) & 0x3fffff); }

// The bits of a whole number in some type that is added. Bits: an unsigned integer as wide as the type.
template <typename Bits>
HOST_DEVICE inline Bits bits_of(int32_t number, Type type)
{
    const float f = float(number);
    const double d = double(number);
    Bits bits = Bits(number);
    if constexpr (sizeof bits == sizeof f)
        if (type == Type::f32) std::memcpy(&bits, &f, sizeof f);
    if constexpr (sizeof bits == sizeof d)
        if (type == Type::f64) std::memcpy(&bits, &d, sizeof d);
    return bits;
}

// The bit that keeps a pattern a finite number, neither zero nor subnormal: this bit of the exponent is 0, and the next
// one is 1. Whole numbers have none, and pairs have one in either half.
template <typename Bits>
HOST_DEVICE inline Bits exponent_bit(Type type)
{
    const Bits high = type == Type::i8 || type == Type::i32 ? Bits(0) : Bits(Bits(1) << (8 * sizeof(Bits) - 2));
    return type == Type::f64x2 ? Bits(high | high >> 4 * sizeof(Bits)) : high;
}

template <typename Bits>
HOST_DEVICE inline Bits ordinary(Bits bits, Type type)
{
    const Bits high = exponent_bit<Bits>(type);
    return Bits((bits & ~high) | high >> 1);
}

// The contents of a matrix: an input, the result that an output must have afterwards, or the poison that fills it
// beforehand. The poison is the complement of the expected bits, so that an element that no thread writes is wrong
// whatever was expected of it.
enum class Holds { input, result, poison };

struct Contents {
    Type type;
    Expected expected;
    uint64_t width, height;  // of idata, in elements; of one operand, if there are more
    uint32_t seed;
    Holds holds;

    // Elements of one row of an output in memory, its padding included.
    HOST_DEVICE uint64_t pitch() const
    {
        return output_columns(expected, width, height) + expected.pad_bytes / bytes_of(type);
    }

    HOST_DEVICE uint64_t elements() const
    {
        const uint64_t n = width * height;
        if (holds == Holds::input) return n * expected.operands();
        return n / output_columns(expected, width, height) * pitch();
    }

    // True if element `o` of an output is one that the kernel writes.
    HOST_DEVICE bool written(uint64_t o) const
    {
        if (expected.what == Produces::pieces) return source_of_piece(o, width, height, expected.tile, ~0ull) != ~0ull;
        return expected.what != Produces::nothing && o % pitch() < output_columns(expected, width, height);
    }

    // The index into idata of what belongs at odata[o], where written(o).
    HOST_DEVICE uint64_t source(uint64_t o) const
    {
        if (expected.pad_bytes) o = o / pitch() * output_columns(expected, width, height) + o % pitch();
        return source_index(expected, o, width, height);
    }

    // The i-th element of idata.
    template <typename Bits>
    HOST_DEVICE Bits element(uint64_t i) const
    {
        const Bits bits = pattern<Bits>(i, seed);
        return expected.finite ? ordinary(bits, type) : bits;
    }

    template <typename Bits>
    HOST_DEVICE Bits at(uint64_t o) const
    {
        const bool sum = expected.operands() > 1;
        if (holds == Holds::input) return sum ? bits_of<Bits>(term(o, seed), type) : element<Bits>(o);
        const bool whole = expected.what != Produces::nothing && expected.what != Produces::pieces;
        if ((expected.pad_bytes || !whole) && !written(o)) return Bits(~pattern<Bits>(o, seed));
        const uint64_t n = width * height, first = expected.what == Produces::sum ? o : 0;
        const Bits bits = sum ? bits_of<Bits>(term(first, seed) + term(n + o, seed), type) : element<Bits>(source(o));
        return holds == Holds::poison ? Bits(~bits) : bits;
    }
};

}  // namespace harness
