// Many elements at a time. In: contents, and a range of their elements. Out: the bits of these elements.
//
// Contents::at() divides to find an element's row and column, and asks what the contents are, for each element anew.
// In a row of an output, or in a row of one tile, neighbours come from places of idata that are equally far apart.
// They are a run: both questions are asked once for all of it. The loop over its elements has no branch, so the
// compiler makes vector instructions of it. For x86 it is compiled a second time, with those of AVX2.
//
// Invariant: reference.h alone says which element belongs where. A run only says how far the distance of its first two
// elements holds. The cost of an element in a run is that of mixing its bits; of any other, that of Contents::at().

#include "elements.h"

#include <algorithm>

namespace harness {
namespace {

// Elements in memory from this one on whose places in idata are equally far apart. 1: it is taken by itself.
uint64_t run_length(const Contents& contents, uint64_t o)
{
    const Expected& e = contents.expected;
    if (e.operands() > 1) return 1;
    if (contents.holds == Holds::input) return contents.elements() - o;
    if (!contents.written(o)) return 1;
    const uint64_t width = contents.width, height = contents.height, columns = output_columns(e, width, height);
    const uint64_t row = o / contents.pitch(), column = o % contents.pitch(), tile = e.tile;
    switch (e.what) {
        case Produces::copy:
        case Produces::transpose:
            return columns - column;
        case Produces::tile_transpose:
        case Produces::tile_move: {
            // The ends of the tile and of its image. Where one lies outside the matrix, the rule differs by element.
            const uint64_t right = (column / tile + 1) * tile, bottom = (row / tile + 1) * tile;
            const bool whole = right <= std::min(width, height) && bottom <= std::min(width, height);
            return whole ? right - column : 1;
        }
        case Produces::pieces:
        case Produces::sum:
        case Produces::sum_with_first:
        case Produces::nothing:
            return 1;
    }
    return 1;
}

// So many elements of a run stay in the cache from one loop over them to the next.
constexpr uint64_t at_once = 1024;

// A part of a run. The lower half of each index is `stride` more than the one before; they share the upper half, and
// the loops are written so that the compiler sees it.
struct Stretch {
    uint32_t high, first, stride, count;
};

template <typename Bits>
inline __attribute__((always_inline)) void write_part(const Stretch& part, const Contents& contents, Bits* to)
{
    const auto [high, first, stride, count] = part;
    const Type type = contents.type;
    const uint32_t seed = contents.seed;
    for (uint32_t k = 0; k < count; ++k)
        to[k] = pattern<Bits>(uint64_t(high) << 32 | uint32_t(first + k * stride), seed);
    if (contents.expected.finite)
        for (uint32_t k = 0; k < count; ++k) to[k] = ordinary(to[k], type);
    if (contents.holds == Holds::poison)
        for (uint32_t k = 0; k < count; ++k) to[k] = Bits(~to[k]);
}

#ifdef __x86_64__
template <typename Bits>
__attribute__((target("avx2"))) void write_part_avx2(const Stretch& part, const Contents& contents, Bits* to)
{
    write_part(part, contents, to);
}

template <typename Bits>
void write_fast(const Stretch& part, const Contents& contents, Bits* to)
{
    __builtin_cpu_supports("avx2") ? write_part_avx2(part, contents, to) : write_part(part, contents, to);
}
#else
template <typename Bits>
void write_fast(const Stretch& part, const Contents& contents, Bits* to)
{
    write_part(part, contents, to);
}
#endif

}  // namespace

template <typename Bits>
void write_elements(const Contents& contents, uint64_t first, uint64_t count, Bits* to)
{
    const bool output = contents.holds != Holds::input;
    for (const uint64_t end = first + count; first < end;) {
        uint64_t n = std::min(run_length(contents, first), end - first);
        if (n > 1) {
            const uint64_t source = output ? contents.source(first) : first;
            const uint64_t stride = output ? contents.source(first + 1) - source : 1;
            n = std::min({n, at_once, ~uint32_t(source) / stride + 1});  // the last: with the same upper half
            write_fast({uint32_t(source >> 32), uint32_t(source), uint32_t(stride), uint32_t(n)}, contents, to);
        } else {
            *to = contents.at<Bits>(first);
        }
        first += n;
        to += n;
    }
}

template void write_elements(const Contents&, uint64_t, uint64_t, uint8_t*);
template void write_elements(const Contents&, uint64_t, uint64_t, uint16_t*);
template void write_elements(const Contents&, uint64_t, uint64_t, uint32_t*);
template void write_elements(const Contents&, uint64_t, uint64_t, uint64_t*);
template void write_elements(const Contents&, uint64_t, uint64_t, uint128_t*);

}  // namespace harness
