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
#define SIM_PARTS(name, T, part)                                                     \
    SIM_FUNCTION inline unsigned name(unsigned a, unsigned b)                        \
    {                                                                                \
        constexpr unsigned bits = 8 * sizeof(T), ones = (1u << bits) - 1;            \
        unsigned result = 0;                                                         \
        for (unsigned at = 0; at < 32; at += bits) {                                 \
            const int x = T(a >> at), y = T(b >> at);                                \
            result |= (unsigned(part) & ones) << at;                                 \
        }                                                                            \
        return result;                                                               \
    }
#define SIM_PARTS_2_4(name, Signed2, Signed4, part) \
    SIM_PARTS(name##2, Signed2, part)               \
    SIM_PARTS(name##4, Signed4, part)
#define SIM_PARTS_S_U(before, after, part)                        \
    SIM_PARTS_2_4(before##s##after, int16_t, int8_t, part)        \
    SIM_PARTS_2_4(before##u##after, uint16_t, uint8_t, part)

SIM_PARTS_2_4(__vadd, uint16_t, uint8_t, x + y)
SIM_PARTS_2_4(__vsub, uint16_t, uint8_t, x - y)
SIM_PARTS_2_4(__vaddus, uint16_t, uint8_t, x + y > int(ones) ? int(ones) : x + y)
SIM_PARTS_2_4(__vsubus, uint16_t, uint8_t, x < y ? 0 : x - y)
SIM_PARTS_2_4(__vaddss, int16_t, int8_t, sim::saturated(x + y, bits))
SIM_PARTS_2_4(__vsubss, int16_t, int8_t, sim::saturated(x - y, bits))
SIM_PARTS_2_4(__vabsdiffu, uint16_t, uint8_t, x > y ? x - y : y - x)
SIM_PARTS_2_4(__vabsdiffs, int16_t, int8_t, x > y ? x - y : y - x)
SIM_PARTS_2_4(__vhaddu, uint16_t, uint8_t, (x + y) >> 1)
SIM_PARTS_2_4(__vavgu, uint16_t, uint8_t, (x + y + 1) >> 1)
SIM_PARTS_2_4(__vavgs, int16_t, int8_t, (x + y + (x + y >= 0)) >> 1)
SIM_PARTS_S_U(__vmax, , x > y ? x : y)
SIM_PARTS_S_U(__vmin, , x < y ? x : y)
SIM_PARTS_2_4(__vcmpeq, uint16_t, uint8_t, x == y ? ones : 0)
SIM_PARTS_2_4(__vcmpne, uint16_t, uint8_t, x != y ? ones : 0)
SIM_PARTS_S_U(__vcmpgt, , x > y ? ones : 0)
SIM_PARTS_S_U(__vcmpge, , x >= y ? ones : 0)
SIM_PARTS_S_U(__vcmplt, , x < y ? ones : 0)
SIM_PARTS_S_U(__vcmple, , x <= y ? ones : 0)
SIM_PARTS_2_4(__vseteq, uint16_t, uint8_t, x == y)
SIM_PARTS_2_4(__vsetne, uint16_t, uint8_t, x != y)
SIM_PARTS_S_U(__vsetgt, , x > y)
SIM_PARTS_S_U(__vsetge, , x >= y)
SIM_PARTS_S_U(__vsetlt, , x < y)
SIM_PARTS_S_U(__vsetle, , x <= y)

#undef SIM_PARTS_S_U
#undef SIM_PARTS_2_4
#undef SIM_PARTS

SIM_INLINE unsigned __vneg2(unsigned a) { return __vsub2(0, a); }
SIM_INLINE unsigned __vneg4(unsigned a) { return __vsub4(0, a); }
SIM_INLINE unsigned __vnegss2(unsigned a) { return __vsubss2(0, a); }
SIM_INLINE unsigned __vnegss4(unsigned a) { return __vsubss4(0, a); }
SIM_INLINE unsigned __vabs2(unsigned a) { return __vabsdiffs2(a, 0); }
SIM_INLINE unsigned __vabs4(unsigned a) { return __vabsdiffs4(a, 0); }
SIM_INLINE unsigned __vabsss2(unsigned a) { return __vmaxs2(a, __vnegss2(a)); }
SIM_INLINE unsigned __vabsss4(unsigned a) { return __vmaxs4(a, __vnegss4(a)); }

namespace sim {

// The sum of the two or four numbers in a word.
constexpr SIM_INLINE unsigned sum_of_2(unsigned a) { return (a & 0xffff) + (a >> 16); }
constexpr SIM_INLINE unsigned sum_of_4(unsigned a)
{
    return (a & 0xff) + (a >> 8 & 0xff) + (a >> 16 & 0xff) + (a >> 24);
}

}  // namespace sim

SIM_INLINE unsigned __vsads2(unsigned a, unsigned b) { return sim::sum_of_2(__vabsdiffs2(a, b)); }
SIM_INLINE unsigned __vsads4(unsigned a, unsigned b) { return sim::sum_of_4(__vabsdiffs4(a, b)); }
SIM_INLINE unsigned __vsadu2(unsigned a, unsigned b) { return sim::sum_of_2(__vabsdiffu2(a, b)); }
SIM_INLINE unsigned __vsadu4(unsigned a, unsigned b) { return sim::sum_of_4(__vabsdiffu4(a, b)); }


// The extreme of three numbers, and that of a sum and a number. `suffix`: one number, or two in a word.
#define SIM_OF_THREE(T, name, suffix, chosen, sum)                                                               \
    SIM_INLINE T __vi##name##3_##suffix(T a, T b, T c) { return chosen(chosen(a, b), c); }                       \
    SIM_INLINE T __viadd##name##_##suffix(T a, T b, T c) { return chosen(sum(a, b), c); }
// The same, and of two, and 0 where that is negative.
#define SIM_OF_THREE_SIGNED(T, name, suffix, chosen, sum, larger)                                                \
    SIM_OF_THREE(T, name, suffix, chosen, sum)                                                                   \
    SIM_INLINE T __vi##name##_##suffix##_relu(T a, T b) { return larger(chosen(a, b), T(0)); }                   \
    SIM_INLINE T __vi##name##3_##suffix##_relu(T a, T b, T c) { return larger(chosen(chosen(a, b), c), T(0)); }  \
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
#define SIM_AND_WHICH_2(name, suffix, Part, chosen, order)                                           \
    SIM_INLINE unsigned __vib##name##_##suffix(unsigned a, unsigned b, bool* first_high, bool* first_low) \
    {                                                                                                \
        *first_high = Part(a >> 16) order Part(b >> 16);                                             \
        *first_low = Part(a) order Part(b);                                                          \
        return chosen(a, b);                                                                         \
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
