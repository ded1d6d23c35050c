// Floating-point numbers of 16 bits, alone and in pairs: what __half and __nv_bfloat16 have in common.

#pragma once
#pragma GCC system_header

#include "../cuda_runtime.h"
// Plain C++ has no other way to them.
#include "atomics.h"
#include "integers.h"
#include "memory.h"
#include "numbers.h"
#include "warps.h"

namespace sim {

// How the 16 bits are used; the first is the sign.
struct Binary16 {
    static constexpr int exponent_bits = 5, fraction_bits = 10;
};
struct Brain16 {
    static constexpr int exponent_bits = 8, fraction_bits = 7;
};

template <typename Format>
SIM_FUNCTION constexpr float widened(uint16_t bits)
{
    constexpr int F = Format::fraction_bits, bias = (1 << (Format::exponent_bits - 1)) - 1;
    const uint32_t sign = uint32_t(bits >> 15) << 31, exponent = bits >> F & ((1u << Format::exponent_bits) - 1),
                   fraction = bits & ((1u << F) - 1);
    if (Format::exponent_bits == 8) return bit_cast<float>(uint32_t(bits) << 16);
    if (exponent == (1u << Format::exponent_bits) - 1) return bit_cast<float>(sign | 0x7f800000 | fraction << (23 - F));
    if (exponent == 0) {  // fraction * 2^(1 - bias - F), exact
        const float magnitude = float(fraction) * bit_cast<float>(uint32_t(127 + 1 - bias - F) << 23);
        return sign ? -magnitude : magnitude;
    }
    return bit_cast<float>(sign | (exponent + 127 - bias) << 23 | fraction << (23 - F));
}

template <typename Format>
SIM_FUNCTION constexpr uint16_t narrowed(double value, Round way = Round::nearest)
{
    constexpr int F = Format::fraction_bits, bias = (1 << (Format::exponent_bits - 1)) - 1;
    constexpr unsigned infinity = ((1u << Format::exponent_bits) - 1) << F;
    const uint64_t bits = bit_cast<uint64_t>(value);
    const bool negative = bits >> 63;
    const unsigned sign = unsigned(negative) << 15;
    if (value != value) return 0x7fff;
    const int exponent = int(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024) return uint16_t(sign | infinity);
    const uint64_t significand = (bits & ((uint64_t(1) << 52) - 1)) | (exponent == -1023 ? 0 : uint64_t(1) << 52);
    // Subnormal numbers keep fewer bits. From a shift of 54 on, all that is kept is that it is not 0.
    const int below = exponent < 1 - bias ? 1 - bias - exponent : 0;
    const int shift = 52 - F + (below < F + 2 ? below : F + 2);
    uint64_t kept = significand >> shift;
    const uint64_t lost = significand & ((uint64_t(1) << shift) - 1), half = uint64_t(1) << (shift - 1);
    switch (way) {
        case Round::nearest: kept += lost > half || (lost == half && (kept & 1)); break;
        case Round::up: kept += lost && !negative; break;
        case Round::down: kept += lost && negative; break;
        case Round::zero: break;
    }
    // A carry goes on into the exponent, as it should.
    uint64_t result = below ? kept : (uint64_t(exponent + bias - 1) << F) + kept;
    if (result >= infinity) {
        const bool stays_finite =
            way == Round::zero || (way == Round::up && negative) || (way == Round::down && !negative);
        result = stays_finite ? infinity - 1 : infinity;
    }
    return uint16_t(sign | result);
}

// a * b + c, rounded once. The product of two such numbers is exact in a double; the sum is rounded to odd,
// so that the second rounding is as good as the first.
SIM_FUNCTION inline double fused(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    if (!(::fabs(sum) <= std::numeric_limits<double>::max())) return sum;
    const double c_part = sum - product, error = (product - (sum - c_part)) + (c - c_part);
    const uint64_t bits = bit_cast<uint64_t>(sum);
    if (error == 0 || (bits & 1)) return sum;
    return bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

#define SIM_OPERATORS(OF) OF(+) OF(-) OF(*) OF(/)
#define SIM_COMPARISONS(OF) OF(==) OF(!=) OF(<) OF(>) OF(<=) OF(>=)

template <typename Format>
struct Small {
    uint16_t bits;

    Small() = default;
    template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
    constexpr SIM_INLINE_MEMBER Small(Number value) : bits(narrowed<Format>(double(value)))
    {
    }
    template <typename Other>
    constexpr SIM_INLINE_MEMBER explicit Small(Small<Other> value) : Small(float(value))
    {
    }
    constexpr SIM_INLINE_MEMBER operator float() const { return widened<Format>(bits); }

    static constexpr SIM_INLINE_MEMBER Small from_bits(unsigned bits)
    {
        Small number{};
        number.bits = uint16_t(bits);
        return number;
    }
    static constexpr SIM_INLINE_MEMBER Small rounded(double value, Round way)
    {
        return from_bits(narrowed<Format>(value, way));
    }

    // A sum, product or quotient in float, rounded again, is what one rounding would make it.
#define SIM_SMALL_ARITHMETIC(op) \
    friend SIM_INLINE_MEMBER Small operator op(Small a, Small b) { return float(a) op float(b); } \
    template <typename Other> \
    SIM_INLINE_MEMBER Small& operator op##=(Other b) { return *this = *this op Small(b); }
    SIM_OPERATORS(SIM_SMALL_ARITHMETIC)
#undef SIM_SMALL_ARITHMETIC
    friend SIM_INLINE_MEMBER Small operator+(Small a) { return a; }
    friend SIM_INLINE_MEMBER Small operator-(Small a) { return from_bits(a.bits ^ 0x8000); }
#define SIM_SMALL_COMPARES(op) \
    friend SIM_INLINE_MEMBER bool operator op(Small a, Small b) { return float(a) op float(b); }
    SIM_COMPARISONS(SIM_SMALL_COMPARES)
#undef SIM_SMALL_COMPARES

#define SIM_SMALL_STEPS(step, op) \
    SIM_INLINE_MEMBER Small& operator step() { return *this = *this op Small(1); } \
    SIM_INLINE_MEMBER Small operator step(int) \
    { \
        const Small before = *this; \
        *this = before op Small(1); \
        return before; \
    }
    SIM_SMALL_STEPS(++, +)
    SIM_SMALL_STEPS(--, -)
#undef SIM_SMALL_STEPS
};

template <typename Format>
struct alignas(4) Pair {
    using Part = Small<Format>;
    Part x, y;

    Pair() = default;
    constexpr SIM_INLINE_MEMBER Pair(Part x, Part y) : x(x), y(y) {}

#define SIM_PAIR_ARITHMETIC(op) \
    friend SIM_INLINE_MEMBER Pair operator op(Pair a, Pair b) { return {a.x op b.x, a.y op b.y}; } \
    SIM_INLINE_MEMBER Pair& operator op##=(Pair b) { return *this = *this op b; }
    SIM_OPERATORS(SIM_PAIR_ARITHMETIC)
#undef SIM_PAIR_ARITHMETIC
    friend SIM_INLINE_MEMBER Pair operator+(Pair a) { return a; }
    friend SIM_INLINE_MEMBER Pair operator-(Pair a) { return {-a.x, -a.y}; }
    // True where it is true of both parts.
#define SIM_PAIR_COMPARES(op) \
    friend SIM_INLINE_MEMBER bool operator op(Pair a, Pair b) { return a.x op b.x && a.y op b.y; }
    SIM_COMPARISONS(SIM_PAIR_COMPARES)
#undef SIM_PAIR_COMPARES

    SIM_INLINE_MEMBER Pair& operator++() { return *this = *this + Pair(1, 1); }
    SIM_INLINE_MEMBER Pair& operator--() { return *this = *this - Pair(1, 1); }
};

template <typename Format>
constexpr bool has_cached_loads<Small<Format>> = true;
template <typename Format>
constexpr bool has_cached_loads<Pair<Format>> = true;

#undef SIM_COMPARISONS
#undef SIM_OPERATORS

}  // namespace sim

// A function of numbers, and the one of pairs that applies it to each part.
#define SIM_1(Type) sim::Type<Format> a
#define SIM_2(Type) SIM_1(Type), sim::Type<Format> b
#define SIM_3(Type) SIM_2(Type), sim::Type<Format> c
#define SIM_PART_1(part) a.part
#define SIM_PART_2(part) a.part, b.part
#define SIM_PART_3(part) a.part, b.part, c.part
#define SIM_SMALL(operands, name, name2, expression) \
    template <typename Format> \
    SIM_INLINE sim::Small<Format> name(SIM_##operands(Small)) { return expression; } \
    template <typename Format> \
    SIM_INLINE sim::Pair<Format> name2(SIM_##operands(Pair)) \
    { \
        return {name(SIM_PART_##operands(x)), name(SIM_PART_##operands(y))}; \
    }
// A function that C has, too.
#define SIM_SMALL_C(name) SIM_SMALL(1, h##name, h2##name, ::name(double(a)))

namespace sim {
template <typename Format>
SIM_INLINE Small<Format> saturated(Small<Format> a) { return __saturatef(float(a)); }
// Where one is not a number, the other is the result; or, for ..._nan, not a number is.
template <typename Format>
SIM_INLINE Small<Format> extreme(float (*of)(float, float), Small<Format> a, Small<Format> b, bool nan)
{
    return nan && (a != a || b != b) ? Small<Format>::from_bits(0x7fff) : Small<Format>(of(float(a), float(b)));
}
}  // namespace sim

SIM_SMALL(2, __hadd, __hadd2, a + b)
SIM_SMALL(2, __hsub, __hsub2, a - b)
SIM_SMALL(2, __hmul, __hmul2, a * b)
SIM_SMALL(2, __hdiv, __h2div, a / b)
SIM_SMALL(2, __hadd_rn, __hadd2_rn, a + b)
SIM_SMALL(2, __hsub_rn, __hsub2_rn, a - b)
SIM_SMALL(2, __hmul_rn, __hmul2_rn, a * b)
SIM_SMALL(2, __hadd_sat, __hadd2_sat, sim::saturated(a + b))
SIM_SMALL(2, __hsub_sat, __hsub2_sat, sim::saturated(a - b))
SIM_SMALL(2, __hmul_sat, __hmul2_sat, sim::saturated(a * b))
SIM_SMALL(3, __hfma, __hfma2, sim::fused(float(a), float(b), float(c)))
SIM_SMALL(3, __hfma_sat, __hfma2_sat, sim::saturated(__hfma(a, b, c)))
SIM_SMALL(3, __hfma_relu, __hfma2_relu, sim::extreme(::fmaxf, __hfma(a, b, c), sim::Small<Format>(0), true))
// a * b + c, of complex numbers.
template <typename Format>
SIM_INLINE sim::Pair<Format> __hcmadd(sim::Pair<Format> a, sim::Pair<Format> b, sim::Pair<Format> c)
{
    return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
SIM_SMALL(1, __hneg, __hneg2, -a)
SIM_SMALL(1, __habs, __habs2, sim::Small<Format>::from_bits(a.bits & 0x7fff))
SIM_SMALL(2, __hmin, __hmin2, sim::extreme(::fminf, a, b, false))
SIM_SMALL(2, __hmax, __hmax2, sim::extreme(::fmaxf, a, b, false))
SIM_SMALL(2, __hmin_nan, __hmin2_nan, sim::extreme(::fminf, a, b, true))
SIM_SMALL(2, __hmax_nan, __hmax2_nan, sim::extreme(::fmaxf, a, b, true))

SIM_SMALL_C(sqrt)
SIM_SMALL(1, hrsqrt, h2rsqrt, 1 / ::sqrt(double(a)))
SIM_SMALL(1, hrcp, h2rcp, 1 / double(a))
SIM_SMALL_C(exp)
SIM_SMALL_C(exp2)
SIM_SMALL(1, hexp10, h2exp10, ::pow(10.0, double(a)))
SIM_SMALL_C(log)
SIM_SMALL_C(log2)
SIM_SMALL_C(log10)
SIM_SMALL_C(sin)
SIM_SMALL_C(cos)
SIM_SMALL_C(tanh)
SIM_SMALL(1, htanh_approx, h2tanh_approx, ::tanh(double(a)))
SIM_SMALL_C(floor)
SIM_SMALL_C(ceil)
SIM_SMALL_C(trunc)
SIM_SMALL_C(rint)

#undef SIM_SMALL_C
#undef SIM_SMALL
#undef SIM_PART_1
#undef SIM_PART_2
#undef SIM_PART_3
#undef SIM_1
#undef SIM_2
#undef SIM_3

// Comparisons: of two numbers; of pairs, part by part, as 1 or 0, as masks, and of both.
#define SIM_SMALL_COMPARISON(name, expression) \
    template <typename Format> \
    SIM_INLINE bool __h##name(sim::Small<Format> a, sim::Small<Format> b) { return expression; } \
    template <typename Format> \
    SIM_INLINE sim::Pair<Format> __h##name##2(sim::Pair<Format> a, sim::Pair<Format> b) \
    { \
        return {int(__h##name(a.x, b.x)), int(__h##name(a.y, b.y))}; \
    } \
    template <typename Format> \
    SIM_INLINE unsigned __h##name##2_mask(sim::Pair<Format> a, sim::Pair<Format> b) \
    { \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0); \
    } \
    template <typename Format> \
    SIM_INLINE bool __hb##name##2(sim::Pair<Format> a, sim::Pair<Format> b) \
    { \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y); \
    }
SIM_SMALL_COMPARISON(eq, a == b)
SIM_SMALL_COMPARISON(ne, a < b || a > b)
SIM_SMALL_COMPARISON(lt, a < b)
SIM_SMALL_COMPARISON(le, a <= b)
SIM_SMALL_COMPARISON(gt, a > b)
SIM_SMALL_COMPARISON(ge, a >= b)
// True, too, where one is not a number.
SIM_SMALL_COMPARISON(equ, !(a < b || a > b))
SIM_SMALL_COMPARISON(neu, !(a == b))
SIM_SMALL_COMPARISON(ltu, !(a >= b))
SIM_SMALL_COMPARISON(leu, !(a > b))
SIM_SMALL_COMPARISON(gtu, !(a <= b))
SIM_SMALL_COMPARISON(geu, !(a < b))
#undef SIM_SMALL_COMPARISON

template <typename Format>
SIM_INLINE bool __hisnan(sim::Small<Format> a) { return a != a; }
template <typename Format>
SIM_INLINE int __hisinf(sim::Small<Format> a) { return ::isinf(float(a)) ? (a.bits >> 15 ? -1 : 1) : 0; }
template <typename Format>
SIM_INLINE sim::Pair<Format> __hisnan2(sim::Pair<Format> a) { return {int(a.x != a.x), int(a.y != a.y)}; }
template <typename Format>
SIM_INLINE sim::Pair<Format> __lowhigh2highlow(sim::Pair<Format> a) { return {a.y, a.x}; }

// The addresses tell which of the two formats is meant; the values may be numbers of another type.
template <typename Format>
SIM_FUNCTION sim::Small<Format> atomicAdd(sim::Small<Format>* address, sim::SameAs<sim::Small<Format>> value)
{
    SIM_CHANGE(sim::Small<Format>, address, old + value)
}
template <typename Format>
SIM_FUNCTION sim::Pair<Format> atomicAdd(sim::Pair<Format>* address, sim::SameAs<sim::Pair<Format>> value)
{
    SIM_CHANGE(sim::Pair<Format>, address, old + value)
}

// The functions whose names hold the type's: conversions, and parts of pairs. `Named`: that part of their names.
#define SIM_SMALL_NAMES(Type, Type2, Named, Named2) \
    SIM_INLINE Type __float2##Named(float a) { return a; } \
    SIM_ROUNDINGS(Type, __float2##Named, float, Type::rounded) \
    SIM_INLINE Type __double2##Named(double a) { return a; } \
    SIM_INLINE float __##Named##2float(Type a) { return a; } \
    SIM_SMALL_INTEGER(Type, Named, int, int) \
    SIM_SMALL_INTEGER(Type, Named, uint, unsigned) \
    SIM_SMALL_INTEGER(Type, Named, short, short) \
    SIM_SMALL_INTEGER(Type, Named, ushort, unsigned short) \
    SIM_SMALL_INTEGER(Type, Named, ll, long long) \
    SIM_SMALL_INTEGER(Type, Named, ull, unsigned long long) \
    SIM_INLINE short __##Named##_as_short(Type a) { return short(a.bits); } \
    SIM_INLINE unsigned short __##Named##_as_ushort(Type a) { return a.bits; } \
    SIM_INLINE Type __short_as_##Named(short a) { return Type::from_bits(unsigned(a)); } \
    SIM_INLINE Type __ushort_as_##Named(unsigned short a) { return Type::from_bits(a); } \
    SIM_INLINE Type2 __float2##Named2##_rn(float a) { return {a, a}; } \
    SIM_INLINE Type2 __floats2##Named2##_rn(float a, float b) { return {a, b}; } \
    SIM_INLINE Type2 __float22##Named2##_rn(float2 a) { return {a.x, a.y}; } \
    SIM_INLINE float2 __##Named2##2float2(Type2 a) { return make_float2(a.x, a.y); } \
    SIM_INLINE float __low2float(Type2 a) { return a.x; } \
    SIM_INLINE float __high2float(Type2 a) { return a.y; } \
    SIM_INLINE Type __low2##Named(Type2 a) { return a.x; } \
    SIM_INLINE Type __high2##Named(Type2 a) { return a.y; } \
    SIM_INLINE Type2 __##Named##2##Named2(Type a) { return {a, a}; } \
    SIM_INLINE Type2 __low2##Named2(Type2 a) { return {a.x, a.x}; } \
    SIM_INLINE Type2 __high2##Named2(Type2 a) { return {a.y, a.y}; } \
    SIM_INLINE Type2 __lows2##Named2(Type2 a, Type2 b) { return {a.x, b.x}; } \
    SIM_INLINE Type2 __highs2##Named2(Type2 a, Type2 b) { return {a.y, b.y}; } \
    SIM_INLINE Type2 __halves2##Named2(Type a, Type b) { return {a, b}; } \
    SIM_INLINE Type2 make_##Named2(Type a, Type b) { return {a, b}; } \
    SIM_SHUFFLES(Type) \
    SIM_SHUFFLES(Type2)
#define SIM_SMALL_INTEGER(Type, Named, name, Integer) \
    SIM_ROUNDINGS(Type, __##name##2##Named, Integer, Type::rounded) \
    SIM_ROUNDINGS(Integer, __##Named##2##name, Type, sim::to_integer<Integer>)
