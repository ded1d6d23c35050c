// Two or four numbers in one word, and minima and maxima of three numbers: CUDA's SIMD intrinsics.

#pragma once
#pragma GCC system_header

#include "base.h"

namespace sim {

// Into a signed number of so many bits.
constexpr SIM_INLINE int saturated(int x, unsigned bits)
{
    const int most = (1 << (bits - 1)) - 1;
    return x > most ? most : x < -most - 1 ? -most - 1 : x;
}

template <typename T>
constexpr SIM_INLINE T larger(T a, T b) { return a > b ? a : b; }
template <typename T>
constexpr SIM_INLINE T smaller(T a, T b) { return a < b ? a : b; }
constexpr SIM_INLINE int wrapped_sum(int a, int b) { return int(unsigned(a) + unsigned(b)); }
constexpr SIM_INLINE unsigned wrapped_sum(unsigned a, unsigned b) { return a + b; }

}  // namespace sim

// `part`: of the result, from the numbers x and y of a and b.
#define SIM_PARTS(name, T, part) \
    SIM_FUNCTION inline unsigned name(unsigned a, unsigned b) \
    { \
        constexpr unsigned bits = 8 * sizeof(T), ones = (1u << bits) - 1; \
        unsigned result = 0; \
        for (unsigned at = 0; at < 32; at += bits) { \
            const int x = T(a >> at), y = T(b >> at); \
            result |= (unsigned(part) & ones) << at; \
        } \
        return result; \
    }
#define SIM_UNSIGNED(name, part) \
    SIM_PARTS(name##2, uint16_t, part) \
    SIM_PARTS(name##4, uint8_t, part)
#define SIM_SIGNED(name, part) \
    SIM_PARTS(name##2, int16_t, part) \
    SIM_PARTS(name##4, int8_t, part)
#define SIM_BOTH(name, part) \
    SIM_SIGNED(name##s, part) \
    SIM_UNSIGNED(name##u, part)

SIM_UNSIGNED(__vadd, x + y)
SIM_UNSIGNED(__vsub, x - y)
SIM_UNSIGNED(__vaddus, x + y > int(ones) ? int(ones) : x + y)
SIM_UNSIGNED(__vsubus, x < y ? 0 : x - y)
SIM_SIGNED(__vaddss, sim::saturated(x + y, bits))
SIM_SIGNED(__vsubss, sim::saturated(x - y, bits))
SIM_BOTH(__vabsdiff, x > y ? x - y : y - x)
SIM_UNSIGNED(__vhaddu, (x + y) >> 1)
SIM_UNSIGNED(__vavgu, (x + y + 1) >> 1)
SIM_SIGNED(__vavgs, (x + y + (x + y >= 0)) >> 1)
SIM_BOTH(__vmax, x > y ? x : y)
SIM_BOTH(__vmin, x < y ? x : y)
// Comparisons, as masks and as 1 or 0.
#define SIM_COMPARED(Kind, name, op) \
    SIM_##Kind(__vcmp##name, x op y ? ones : 0) \
    SIM_##Kind(__vset##name, x op y)
SIM_COMPARED(UNSIGNED, eq, ==)
SIM_COMPARED(UNSIGNED, ne, !=)
SIM_COMPARED(BOTH, gt, >)
SIM_COMPARED(BOTH, ge, >=)
SIM_COMPARED(BOTH, lt, <)
SIM_COMPARED(BOTH, le, <=)

#undef SIM_COMPARED
#undef SIM_BOTH
#undef SIM_SIGNED
#undef SIM_UNSIGNED
#undef SIM_PARTS

namespace sim {

// The sum of the two or four numbers in a word.
constexpr SIM_INLINE unsigned sum_of_2(unsigned a) { return (a & 0xffff) + (a >> 16); }
constexpr SIM_INLINE unsigned sum_of_4(unsigned a) { return sum_of_2(a & 0xff00ff) + sum_of_2(a >> 8 & 0xff00ff); }

}  // namespace sim

#define SIM_MORE_OF_PARTS(n) \
    SIM_INLINE unsigned __vneg##n(unsigned a) { return __vsub##n(0, a); } \
    SIM_INLINE unsigned __vnegss##n(unsigned a) { return __vsubss##n(0, a); } \
    SIM_INLINE unsigned __vabs##n(unsigned a) { return __vabsdiffs##n(a, 0); } \
    SIM_INLINE unsigned __vabsss##n(unsigned a) { return __vmaxs##n(a, __vnegss##n(a)); } \
    SIM_INLINE unsigned __vsads##n(unsigned a, unsigned b) { return sim::sum_of_##n(__vabsdiffs##n(a, b)); } \
    SIM_INLINE unsigned __vsadu##n(unsigned a, unsigned b) { return sim::sum_of_##n(__vabsdiffu##n(a, b)); }
SIM_MORE_OF_PARTS(2)
SIM_MORE_OF_PARTS(4)
#undef SIM_MORE_OF_PARTS

// The extreme of three numbers, and that of a sum and a number. `suffix`: one number, or two in a word.
#define SIM_OF_THREE(T, name, suffix, chosen, sum) \
    SIM_INLINE T __vi##name##3_##suffix(T a, T b, T c) { return chosen(chosen(a, b), c); } \
    SIM_INLINE T __viadd##name##_##suffix(T a, T b, T c) { return chosen(sum(a, b), c); }
// The same, and of two, and 0 where that is negative.
#define SIM_OF_THREE_SIGNED(T, name, suffix, chosen, sum, larger) \
    SIM_OF_THREE(T, name, suffix, chosen, sum) \
    SIM_INLINE T __vi##name##_##suffix##_relu(T a, T b) { return larger(chosen(a, b), T(0)); } \
    SIM_INLINE T __vi##name##3_##suffix##_relu(T a, T b, T c) { return larger(chosen(chosen(a, b), c), T(0)); } \
    SIM_INLINE T __viadd##name##_##suffix##_relu(T a, T b, T c) { return larger(chosen(sum(a, b), c), T(0)); }
SIM_OF_THREE_SIGNED(int, max, s32, sim::larger, sim::wrapped_sum, sim::larger)
SIM_OF_THREE_SIGNED(int, min, s32, sim::smaller, sim::wrapped_sum, sim::larger)
SIM_OF_THREE_SIGNED(unsigned, max, s16x2, __vmaxs2, __vadd2, __vmaxs2)
SIM_OF_THREE_SIGNED(unsigned, min, s16x2, __vmins2, __vadd2, __vmaxs2)
SIM_OF_THREE(unsigned, max, u32, sim::larger, sim::wrapped_sum)
SIM_OF_THREE(unsigned, min, u32, sim::smaller, sim::wrapped_sum)
SIM_OF_THREE(unsigned, max, u16x2, __vmaxu2, __vadd2)
SIM_OF_THREE(unsigned, min, u16x2, __vminu2, __vadd2)
#undef SIM_OF_THREE_SIGNED
#undef SIM_OF_THREE

// Also whether a is the one that was chosen.
#define SIM_AND_WHICH(T, name, suffix, chosen, order) \
    SIM_INLINE T __vib##name##_##suffix(T a, T b, bool* first) { *first = a order b; return chosen(a, b); }
#define SIM_AND_WHICH_2(name, suffix, Part, chosen, order) \
    SIM_INLINE unsigned __vib##name##_##suffix(unsigned a, unsigned b, bool* first_high, bool* first_low) \
    { \
        *first_high = Part(a >> 16) order Part(b >> 16); \
        *first_low = Part(a) order Part(b); \
        return chosen(a, b); \
    }
SIM_AND_WHICH(int, max, s32, sim::larger, >=)
SIM_AND_WHICH(int, min, s32, sim::smaller, <=)
SIM_AND_WHICH(unsigned, max, u32, sim::larger, >=)
SIM_AND_WHICH(unsigned, min, u32, sim::smaller, <=)
SIM_AND_WHICH_2(max, s16x2, int16_t, __vmaxs2, >=)
SIM_AND_WHICH_2(min, s16x2, int16_t, __vmins2, <=)
SIM_AND_WHICH_2(max, u16x2, uint16_t, __vmaxu2, >=)
SIM_AND_WHICH_2(min, u16x2, uint16_t, __vminu2, <=)
#undef SIM_AND_WHICH_2
#undef SIM_AND_WHICH
