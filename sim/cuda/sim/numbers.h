// Mathematics. What C has comes from <math.h>; here is what CUDA adds.

#pragma once
#pragma GCC system_header

#include <math.h>
#include <stdlib.h>

#include "casts.h"
#include "min_max.h"

SIM_INLINE float __saturatef(float x) { return ::fminf(::fmaxf(x, 0.0f), 1.0f); }  // and 0 for NaN

// A function of doubles, and that of floats, which is computed in double and rounded once. It is not static where a
// newer C library declares it, too: glibc from 2.41 (sinpi) and 2.42 (rsqrt) on.
#define SIM_OF_1(linkage, name, result) \
    linkage double name(double a) noexcept { return result; } \
    linkage float name##f(float a) noexcept { return float(name(double(a))); }
#define SIM_OF_2(name, result) \
    SIM_INLINE double name(double a, double b) { return result; } \
    SIM_INLINE float name##f(float a, float b) { return float(name(double(a), double(b))); }
#define SIM_OF_3(name, result) \
    SIM_INLINE double name(double a, double b, double c) { return result; } \
    SIM_INLINE float name##f(float a, float b, float c) { return float(name(a, b, c)); }
#define SIM_OF_4(name, result) \
    SIM_INLINE double name(double a, double b, double c, double d) { return result; } \
    SIM_INLINE float name##f(float a, float b, float c, float d) { return float(name(a, b, c, d)); }

SIM_OF_1(SIM_INLINE_MEMBER, rsqrt, 1 / ::sqrt(a))
SIM_INLINE float rsqrt(float x) { return rsqrtf(x); }
SIM_OF_1(SIM_INLINE, rcbrt, 1 / ::cbrt(a))
SIM_INLINE float rcbrt(float x) { return rcbrtf(x); }
SIM_INLINE float fdividef(float x, float y) { return x / y; }

namespace sim {

// Exact for multiples of a half, as CUDA's are.
SIM_FUNCTION inline double sin_of_pi_times(double x)
{
    const double r = ::remainder(x, 2.0);
    if (r != r || ::fabs(r) == 1 || r == 0) return r != r ? r : ::copysign(0.0, x);
    if (::fabs(r) == 0.5) return r < 0 ? -1 : 1;
    return ::sin(M_PI * (::fabs(r) > 0.5 ? ::copysign(1 - ::fabs(r), r) : r));
}
SIM_FUNCTION inline double cos_of_pi_times(double x)
{
    const double r = ::fabs(::remainder(x, 2.0));
    if (r == 0.5) return 0;
    return r > 0.5 ? -::cos(M_PI * (1 - r)) : ::cos(M_PI * r);
}

template <typename T>
struct SineAndCosine {
    T sine, cosine;
};
template <typename T>
SIM_INLINE SineAndCosine<T> sine_and_cosine(SameAs<T> x) { return {T(std::sin(x)), T(std::cos(x))}; }
template <typename T>
SIM_INLINE SineAndCosine<T> sine_and_cosine_of_pi_times(SameAs<T> x)
{
    return {T(sin_of_pi_times(double(x))), T(cos_of_pi_times(double(x)))};
}

}  // namespace sim

// Macros, so that the results are stored in the text of the kernel; the C library would store them unwatched.
#define SIM_SINE_AND_COSINE(function, x, s, c) \
    (__extension__({ \
        auto* const sim_sine = s; \
        auto* const sim_cosine = c; \
        const auto sim_both = ::sim::function<std::remove_reference_t<decltype(*sim_sine)>>(x); \
        *sim_sine = sim_both.sine; \
        *sim_cosine = sim_both.cosine; \
    }))
#define sincosf(x, s, c) SIM_SINE_AND_COSINE(sine_and_cosine, x, s, c)
#define sincos(x, s, c) SIM_SINE_AND_COSINE(sine_and_cosine, x, s, c)
#define __sincosf(x, s, c) SIM_SINE_AND_COSINE(sine_and_cosine, x, s, c)
#define sincospif(x, s, c) SIM_SINE_AND_COSINE(sine_and_cosine_of_pi_times, x, s, c)
#define sincospi(x, s, c) SIM_SINE_AND_COSINE(sine_and_cosine_of_pi_times, x, s, c)

SIM_OF_1(SIM_INLINE_MEMBER, sinpi, sim::sin_of_pi_times(a))
SIM_INLINE float sinpi(float x) { return sinpif(x); }
SIM_OF_1(SIM_INLINE_MEMBER, cospi, sim::cos_of_pi_times(a))
SIM_INLINE float cospi(float x) { return cospif(x); }
SIM_OF_2(rhypot, 1 / ::hypot(a, b))
SIM_OF_3(norm3d, std::hypot(a, b, c))
SIM_OF_3(rnorm3d, 1 / norm3d(a, b, c))
SIM_OF_4(norm4d, ::hypot(::hypot(a, b), ::hypot(c, d)))
SIM_OF_4(rnorm4d, 1 / norm4d(a, b, c, d))

namespace sim {

// No square is formed, which may leave the range. Of fewer than two numbers it is the absolute value of the first, as
// on an H200.
template <typename T>
SIM_INLINE double length(int n, const T* a)
{
    double length = ::fabs(double(a[0]));
    Turns turns;
    for (int i = 1; i < n; ++i) {
        length = ::hypot(length, double(a[i]));
        turns.next();
    }
    return length;
}

}  // namespace sim

SIM_INLINE double norm(int n, const double* a) { return sim::length(n, a); }
SIM_INLINE float normf(int n, const float* a) { return float(sim::length(n, a)); }
SIM_INLINE double rnorm(int n, const double* a) { return 1 / norm(n, a); }
SIM_INLINE float rnormf(int n, const float* a) { return float(1 / sim::length(n, a)); }

SIM_OF_1(SIM_INLINE, normcdf, ::erfc(-a * M_SQRT1_2) / 2)

namespace sim {

// exp(x * x) * erfc(x). From 25 on both factors leave the range of a double; there the asymptotic series is exact
// enough.
SIM_FUNCTION inline double erfcx(double x)
{
    if (x < 25) return ::exp(x * x) * ::erfc(x);
    const double t = 1 / (2 * x * x);
    return (1 - t * (1 - 3 * t * (1 - 5 * t))) / (x * 1.7724538509055160273);
}

// Halley's method, from Winitzki's estimate. 0 < y <= 1.
SIM_FUNCTION inline double erfcinv_below_1(double y)
{
    const double w = ::log(y * (2 - y)), b = 4.3307467508 + w / 2;
    double x = ::sqrt(::sqrt(b * b - w / 0.147) - b);
    for (int i = 0; i < 4; ++i) {
        const double step = (y - ::erfc(x)) / (M_2_SQRTPI * ::exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}
SIM_FUNCTION inline double erfcinv(double y)
{
    if (!(y > 0 && y < 2)) return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : NAN;
    return y <= 1 ? erfcinv_below_1(y) : -erfcinv_below_1(2 - y);
}
SIM_FUNCTION inline double erfinv(double y)
{
    // Near 0, 1 - y would lose what y is.
    if (::fabs(y) > 0.5) return ::copysign(erfcinv(1 - ::fabs(y)), y);
    double x = y / M_2_SQRTPI;
    for (int i = 0; i < 4; ++i) {
        const double step = (::erf(x) - y) / (M_2_SQRTPI * ::exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}

// Modified Bessel functions of the first kind, by their power series.
SIM_FUNCTION inline double bessel_i(int order, double x)
{
    const double quarter = x * x / 4;
    double term = order ? x / 2 : 1, sum = 0;
    for (int k = 1; k < 2000 && sum + term != sum; ++k) {
        sum += term;
        term *= quarter / (double(k) * (k + order));
    }
    return sum;
}

}  // namespace sim

SIM_OF_1(SIM_INLINE, erfcx, sim::erfcx(a))
SIM_OF_1(SIM_INLINE, erfinv, sim::erfinv(a))
SIM_OF_1(SIM_INLINE, erfcinv, sim::erfcinv(a))
SIM_OF_1(SIM_INLINE, normcdfinv, -M_SQRT2 * sim::erfcinv(2 * a))
SIM_OF_1(SIM_INLINE, cyl_bessel_i0, sim::bessel_i(0, a))
SIM_OF_1(SIM_INLINE, cyl_bessel_i1, sim::bessel_i(1, a))

#undef SIM_OF_1
#undef SIM_OF_2
#undef SIM_OF_3
#undef SIM_OF_4

// The fast ones of hardware are the exact ones here. The C library declares functions of some of these
// names, and has none of them: hence extern "C", and no static.
extern "C" {
#define SIM_FAST(name) \
    SIM_FUNCTION inline float __##name(float x) noexcept { return ::name(x); }
SIM_FAST(sinf)
SIM_FAST(cosf)
SIM_FAST(tanf)
SIM_FAST(expf)
SIM_FAST(logf)
SIM_FAST(log2f)
SIM_FAST(log10f)
SIM_FAST(tanhf)
#undef SIM_FAST
SIM_FUNCTION inline float __exp10f(float x) noexcept { return float(::pow(10.0, double(x))); }
SIM_FUNCTION inline float __powf(float x, float y) noexcept { return ::powf(x, y); }
}
SIM_INLINE float __fdividef(float x, float y) { return x / y; }
SIM_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }

// Arithmetic with the rounding in its name. In sim::round_..., the operands are volatile: see SIM_ROUNDED.
#define SIM_OPERATION(T, name, expression) \
    namespace sim { \
    SIM_FUNCTION inline T round_##name(T x, T y, T z, Round way) \
    { \
        volatile T a = x, b = y, c = z; \
        (void)a, (void)b, (void)c; \
        SIM_ROUNDED(T, way, expression) \
    } \
    }
#define SIM_OPERATION3(T, name, mode, way) \
    SIM_INLINE T __##name##_##mode(T x, T y, T z) { return sim::round_##name(x, y, z, sim::Round::way); }
#define SIM_OPERATION2(T, name, mode, way) \
    SIM_INLINE T __##name##_##mode(T x, T y) { return sim::round_##name(x, y, 0, sim::Round::way); }
#define SIM_OPERATION1(T, name, mode, way) \
    SIM_INLINE T __##name##_##mode(T x) { return sim::round_##name(x, 0, 0, sim::Round::way); }
#define SIM_OPERATIONS(T, name, operands, expression) \
    SIM_OPERATION(T, name, expression) \
    SIM_OPERATION##operands(T, name, rn, nearest) \
    SIM_OPERATION##operands(T, name, rz, zero) \
    SIM_OPERATION##operands(T, name, ru, up) \
    SIM_OPERATION##operands(T, name, rd, down)

SIM_OPERATIONS(float, fadd, 2, a + b)
SIM_OPERATIONS(float, fsub, 2, a - b)
SIM_OPERATIONS(float, fmul, 2, a * b)
SIM_OPERATIONS(float, fdiv, 2, a / b)
SIM_OPERATIONS(float, fmaf, 3, ::fmaf(a, b, c))
SIM_OPERATIONS(float, frcp, 1, 1 / a)
SIM_OPERATIONS(float, fsqrt, 1, ::sqrtf(a))
SIM_OPERATIONS(double, dadd, 2, a + b)
SIM_OPERATIONS(double, dsub, 2, a - b)
SIM_OPERATIONS(double, dmul, 2, a * b)
SIM_OPERATIONS(double, ddiv, 2, a / b)
SIM_OPERATIONS(double, fma, 3, ::fma(a, b, c))
SIM_OPERATIONS(double, drcp, 1, 1 / a)
SIM_OPERATIONS(double, dsqrt, 1, ::sqrt(a))

#undef SIM_OPERATIONS
#undef SIM_OPERATION1
#undef SIM_OPERATION2
#undef SIM_OPERATION3
#undef SIM_OPERATION
