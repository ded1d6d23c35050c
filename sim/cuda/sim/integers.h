// Integer intrinsics: bits, bytes, products, several numbers in one word.

#pragma once
#pragma GCC system_header

#include "vectors.h"

SIM_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIM_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIM_INLINE int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
SIM_INLINE int __clzll(long long x) { return x ? __builtin_clzll(uint64_t(x)) : 64; }
SIM_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIM_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }

SIM_FUNCTION inline unsigned long long __brevll(unsigned long long x)
{
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= (x >> bit & 1) << (63 - bit);
    return reversed;
}
SIM_FUNCTION inline unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }

// The position of the n-th set bit of `mask` from `base` on: upwards for n > 0, downwards for n < 0.
SIM_FUNCTION inline unsigned __fns(unsigned mask, unsigned base, int n)
{
    if (n == 0) return base < 32 && mask >> base & 1 ? base : 0xffffffff;
    const int step = n > 0 ? 1 : -1;
    int left = n > 0 ? n : -n;
    for (int bit = int(base); bit >= 0 && bit < 32; bit += step)
        if ((mask >> bit & 1) && --left == 0) return unsigned(bit);
    return 0xffffffff;
}

// Four of the eight bytes of y:x, by the lower three bits of each digit of the selector.
SIM_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const uint64_t bytes = uint64_t(y) << 32 | x;
    return unsigned((bytes >> 8 * (selector & 7) & 0xff) | (bytes >> 8 * (selector >> 4 & 7) & 0xff) << 8 |
                    (bytes >> 8 * (selector >> 8 & 7) & 0xff) << 16 | (bytes >> 8 * (selector >> 12 & 7) & 0xff) << 24);
}

SIM_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
SIM_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((uint64_t(high) << 32 | low) << (shift < 32 ? shift : 32) >> 32);
}
SIM_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}
SIM_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((uint64_t(high) << 32 | low) >> (shift < 32 ? shift : 32));
}

// Products of the lower 24 bits.
SIM_INLINE int __mul24(int x, int y)
{
    return int(unsigned(int(unsigned(x) << 8) >> 8) * unsigned(int(unsigned(y) << 8) >> 8));
}
SIM_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
SIM_INLINE int __mulhi(int x, int y) { return int(int64_t(x) * y >> 32); }
SIM_INLINE unsigned __umulhi(unsigned x, unsigned y) { return unsigned(uint64_t(x) * y >> 32); }
SIM_INLINE long long __mul64hi(long long x, long long y) { return (long long)(__int128(x) * y >> 64); }
SIM_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)(x)*y >> 64);
}

SIM_INLINE unsigned __sad(int x, int y, unsigned z)
{
    return (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x)) + z;
}
SIM_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }

// Averages: rounded down, and rounded up.
SIM_INLINE int __hadd(int x, int y) { return int((int64_t(x) + y) >> 1); }
SIM_INLINE int __rhadd(int x, int y) { return int((int64_t(x) + y + 1) >> 1); }
SIM_INLINE unsigned __uhadd(unsigned x, unsigned y) { return unsigned((uint64_t(x) + y) >> 1); }
SIM_INLINE unsigned __urhadd(unsigned x, unsigned y) { return unsigned((uint64_t(x) + y + 1) >> 1); }

namespace sim {

// Word a, cut into parts of type A, times the first, or the last, as many parts of type B of word b.
template <typename A, typename B, typename Sum>
SIM_FUNCTION Sum dot(unsigned a, unsigned b, Sum sum, bool upper = false)
{
    constexpr int parts = 4 / sizeof(A), bits = 8 * sizeof(A);
    if constexpr (parts * sizeof(B) < 4)
        if (upper) b >>= parts * 8 * sizeof(B);
    unsigned result = unsigned(sum);
    for (int i = 0; i < parts; ++i) result += unsigned(int(A(a >> bits * i)) * int(B(b >> 8 * int(sizeof(B)) * i)));
    return Sum(result);
}

}  // namespace sim

// The dot product `name`, which takes words, or vectors of the same parts.
#define SIM_DOT(name, bits, vector, upper) \
    SIM_INLINE int name(int a, int b, int c) \
    { \
        return sim::dot<int##bits##_t, int8_t>(unsigned(a), unsigned(b), c, upper); \
    } \
    SIM_INLINE unsigned name(unsigned a, unsigned b, unsigned c) \
    { \
        return sim::dot<uint##bits##_t, uint8_t>(a, b, c, upper); \
    } \
    SIM_INLINE int name(vector a, char4 b, int c) { return name(sim::bit_cast<int>(a), sim::bit_cast<int>(b), c); } \
    SIM_INLINE unsigned name(u##vector a, uchar4 b, unsigned c) \
    { \
        return name(sim::bit_cast<unsigned>(a), sim::bit_cast<unsigned>(b), c); \
    }
SIM_DOT(__dp4a, 8, char4, false)
SIM_DOT(__dp2a_lo, 16, short2, false)
SIM_DOT(__dp2a_hi, 16, short2, true)
#undef SIM_DOT
