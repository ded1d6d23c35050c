// Conversions between numbers with a given rounding, and between numbers and their bits.

#pragma once
#pragma GCC system_header

#include <cfenv>
#include <cmath>
#include <limits>

#include "base.h"

namespace sim {

enum class Round { nearest, zero, up, down };

SIM_FUNCTION inline double rounded_to_integral(double value, Round way)
{
    switch (way) {
        case Round::zero: return ::trunc(value);
        case Round::up: return ::ceil(value);
        case Round::down: return ::floor(value);
        default: return ::rint(value);
    }
}

// Too large or too small a number becomes the nearest integer there is. What is not a number becomes 0, or, of
// 64 bits, 2^63.
template <typename Integer>
SIM_FUNCTION Integer to_integer(double value, Round way)
{
    using Limits = std::numeric_limits<Integer>;
    if (value != value) return sizeof(Integer) == 8 ? Integer(uint64_t(1) << 63) : Integer(0);
    value = rounded_to_integral(value, way);
    // The largest integer of 64 bits is no double; the next number is.
    if (value >= double(Limits::max())) return Limits::max();
    if (value <= double(Limits::min())) return Limits::min();
    return Integer(value);
}

template <typename Float, typename Integer>
SIM_FUNCTION Float from_integer(Integer integer, Round way)
{
    const bool negative = integer < 0;
    const uint64_t magnitude = negative ? 0 - uint64_t(integer) : uint64_t(integer);
    const int excess = 64 - std::numeric_limits<Float>::digits - (magnitude ? __builtin_clzll(magnitude) : 63);
    if (excess <= 0) return negative ? -Float(magnitude) : Float(magnitude);
    uint64_t kept = magnitude >> excess;
    const uint64_t lost = magnitude & ((uint64_t(1) << excess) - 1), half = uint64_t(1) << (excess - 1);
    if (way == Round::nearest) kept += lost > half || (lost == half && (kept & 1));
    if (way == Round::up) kept += lost && !negative;
    if (way == Round::down) kept += lost && negative;
    const Float result = std::ldexp(Float(kept), excess);
    return negative ? -result : result;
}

inline constexpr int rounding_mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};

// Arithmetic with a rounding is made under that rounding. Volatile: the compiler takes every
// operation to be rounded to nearest, and may move it.
#define SIM_ROUNDED(result, way, expression) \
    const int before_ = std::fegetround(); \
    std::fesetround(sim::rounding_mode[int(way)]); \
    const volatile result result_ = expression; \
    std::fesetround(before_); \
    return result_;

SIM_FUNCTION inline float to_float(double value, Round way)
{
    volatile double v = value;
    SIM_ROUNDED(float, way, float(v))
}

}  // namespace sim

#define SIM_SAME_BITS(To, name, From) \
    SIM_INLINE To name(From x) { return sim::bit_cast<To>(x); }
SIM_SAME_BITS(int, __float_as_int, float)
SIM_SAME_BITS(unsigned, __float_as_uint, float)
SIM_SAME_BITS(float, __int_as_float, int)
SIM_SAME_BITS(float, __uint_as_float, unsigned)
SIM_SAME_BITS(long long, __double_as_longlong, double)
SIM_SAME_BITS(double, __longlong_as_double, long long)
#undef SIM_SAME_BITS
SIM_INLINE int __double2hiint(double x) { return int(sim::bit_cast<uint64_t>(x) >> 32); }
SIM_INLINE int __double2loint(double x) { return int(unsigned(sim::bit_cast<uint64_t>(x))); }
SIM_INLINE double __hiloint2double(int high, int low)
{
    return sim::bit_cast<double>(uint64_t(unsigned(high)) << 32 | unsigned(low));
}

// Each with the roundings to nearest even, to zero, up, and down.
#define SIM_ROUNDINGS(T, name, Argument, function) \
    SIM_INLINE T name##_rn(Argument x) { return function(x, sim::Round::nearest); } \
    SIM_INLINE T name##_rz(Argument x) { return function(x, sim::Round::zero); } \
    SIM_INLINE T name##_ru(Argument x) { return function(x, sim::Round::up); } \
    SIM_INLINE T name##_rd(Argument x) { return function(x, sim::Round::down); }

SIM_ROUNDINGS(int, __float2int, float, sim::to_integer<int>)
SIM_ROUNDINGS(unsigned, __float2uint, float, sim::to_integer<unsigned>)
SIM_ROUNDINGS(long long, __float2ll, float, sim::to_integer<long long>)
SIM_ROUNDINGS(unsigned long long, __float2ull, float, sim::to_integer<unsigned long long>)
SIM_ROUNDINGS(int, __double2int, double, sim::to_integer<int>)
SIM_ROUNDINGS(unsigned, __double2uint, double, sim::to_integer<unsigned>)
SIM_ROUNDINGS(long long, __double2ll, double, sim::to_integer<long long>)
SIM_ROUNDINGS(unsigned long long, __double2ull, double, sim::to_integer<unsigned long long>)
SIM_ROUNDINGS(float, __int2float, int, sim::from_integer<float>)
SIM_ROUNDINGS(float, __uint2float, unsigned, sim::from_integer<float>)
SIM_ROUNDINGS(float, __ll2float, long long, sim::from_integer<float>)
SIM_ROUNDINGS(float, __ull2float, unsigned long long, sim::from_integer<float>)
SIM_ROUNDINGS(double, __ll2double, long long, sim::from_integer<double>)
SIM_ROUNDINGS(double, __ull2double, unsigned long long, sim::from_integer<double>)
SIM_ROUNDINGS(float, __double2float, double, sim::to_float)
SIM_INLINE double __int2double_rn(int x) { return x; }
SIM_INLINE double __uint2double_rn(unsigned x) { return x; }
