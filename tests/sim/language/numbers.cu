// Mathematics, roundings, casts and conversions.

#include <algorithm>
#include <cmath>
#include <math_constants.h>

#include "rows.h"

#define LEAST(X) \
    X(min(i, 4), -3) X(max(i, 4), 4) X(min(i, 5u), 5) X(max(5u, i), 4294967293.0) \
    X(double(min(l, 1ll)), -double(1ll << 40)) X(double(max(l, 1ll)), 1) X(min(1.5f, 2.5f), 1.5) \
    X(max(1.5f, 2.5), 2.5) X(min(short(3), short(-3)), -3) X(abs(i), 3) X(double(abs(l)), double(1ll << 40)) \
    X(abs(-2.5f), 2.5) X(abs(-2.5), 2.5) X(fminf(NAN, 2), 2) X(fmax(double(NAN), 3.0), 3) \
    X(umin(3u, 4u) + umax(3u, 4u), 7) X(double(llmin(-5, 4) + llmax(-5, 4)), -1)
TABLE(least, double, double, int i = -3; const long long l = -(1ll << 40), LEAST)

#define FLOATS(X) \
    X(sinf(x), sin(x)) X(cosf(x), cos(x)) X(tanf(x), tan(x)) X(asinf(x), asin(x)) X(acosf(x), acos(x)) \
    X(atanf(x), atan(x)) X(atan2f(x, 2), atan2(x, 2)) X(sinhf(x), sinh(x)) X(coshf(x), cosh(x)) \
    X(tanhf(x), tanh(x)) X(expf(x), exp(x)) X(exp2f(x), exp2(x)) X(exp10f(x), pow(10, x)) X(expm1f(x), expm1(x)) \
    X(logf(x), log(x)) X(log2f(x), log2(x)) X(log10f(x), log10(x)) X(log1pf(x), log1p(x)) X(powf(x, 3), x * x * x) \
    X(sqrtf(x), sqrt(x)) X(rsqrtf(x), 1 / sqrt(x)) X(cbrtf(x), cbrt(x)) X(rcbrtf(x), 1 / cbrt(x)) \
    X(hypotf(3, 4), 5) X(norm3df(2, 3, 6), 7) X(norm4df(2, 4, 5, 6), 9) X(erff(x), erf(x)) X(erfcf(x), erfc(x)) \
    X(erfinvf(x), 0.345617115f) X(erfcinvf(x), 0.627307348f) X(normcdff(x), erfc(-x / sqrt(2.0)) / 2) \
    X(tgammaf(x), tgamma(x)) X(lgammaf(x), lgamma(x)) X(j0f(x), j0(x)) X(j1f(x), j1(x)) X(y0f(x), y0(x)) \
    X(fmaf(x, 2, 3), 3.75f) X(fmodf(7, 2.5f), 2) X(copysignf(x, -1), -x) X(ldexpf(x, 4), 6) X(floorf(-x), -1) \
    X(ceilf(x), 1) X(truncf(-2.75f), -2) X(roundf(2.5f), 3) X(rintf(2.5f), 2) X(fdimf(3, x), 2.625f) \
    X(sinpif(x), sin(M_PI * x)) X(cospif(x), cos(M_PI * x)) X(sin(x), sin(x)) X(pow(x, 2.0f), x * x) \
    X(rsqrt(x), 1 / sqrt(x)) X(cyl_bessel_i0f(x), 1.03546645f) X(erfcxf(x), exp(x * x) * erfc(x))
TABLE(floats, float, float, , FLOATS)

#define DOUBLES(X) \
    X(sin(x), sin(x)) X(exp(x), exp(x)) X(log(x), log(x)) X(pow(x, 2.5), pow(x, 2.5)) X(rsqrt(x), 1 / sqrt(x)) \
    X(rcbrt(x), 1 / cbrt(x)) X(erf(x), erf(x)) X(erfinv(x), 0.34561711478320656) \
    X(normcdfinv(x), -0.3186393639643753) X(tgamma(x), tgamma(x)) X(jn(2, x), jn(2, x)) X(norm3d(1, 2, 2), 3) \
    X(rhypot(3, 4), 0.2) X(fma(x, 2.0, 3.0), 3.75) X(sinpi(x), sin(M_PI * x)) X(cospi(x), cos(M_PI * x)) \
    X(exp10(x), pow(10, x)) X(cyl_bessel_i1(x), 0.19081526701982354) X(erfcx(x), exp(x * x) * erfc(x)) \
    X(CUDART_PI * x, M_PI * x)
TABLE(doubles, double, double, , DOUBLES)

__device__ float both(float x)
{
    float s, c;
    __sincosf(x, &s, &c);
    return s + c;
}
#define FAST(X) \
    X(__sinf(x), sin(x)) X(__cosf(x), cos(x)) X(__tanf(x), tan(x)) X(__expf(x), exp(x)) X(__exp10f(x), pow(10, x)) \
    X(__logf(x), log(x)) X(__log2f(x), log2(x)) X(__log10f(x), log10(x)) X(__powf(x, 3), x * x * x) \
    X(__fdividef(x, 4), x / 4) X(__saturatef(2 + x), 1) X(__saturatef(-x), 0) X(__frsqrt_rn(x), 1 / sqrt(x)) \
    X(both(x), sin(x) + cos(x))
TABLE(fast, float, float, , FAST)

// The results of functions that return two go to shared memory, too.
__global__ void two_results(float* out, double* dout, float x)
{
    __shared__ float s[4];
    __shared__ double d[4];
    sincosf(x, &s[0], &s[1]);
    sincospif(x, s + 2, s + 3);
    sincos(double(x), &d[0], &d[1]);
    sincospi(double(x), d + 2, d + 3);
    for (int i = 0; i < 4; ++i) {
        out[i] = s[i];
        dout[i] = d[i];
    }
    int exponent;
    out[4] = frexpf(12, &exponent);
    out[5] = float(exponent);
    float whole;
    out[6] = modff(3.75f, &whole);
    out[7] = whole;
}

#define CLASSES(X) \
    X(isnan(CUDART_NAN_F) != 0, 1) X(isnan(x) != 0, 0) X(isinf(CUDART_INF_F) != 0, 1) X(isfinite(x) != 0, 1) \
    X(isfinite(double(CUDART_INF_F)) != 0, 0) X(signbit(-x) != 0, 1) X(ilogbf(40), 5) X(int(lrintf(2.5f)), 2) \
    X(int(llround(-2.5)), -3) X(__float_as_int(nextafterf(1, 2)), 0x3f800001)
TABLE(classes, int, float, , CLASSES)

#define ROUNDED(X) \
    X(__fadd_rn(1, x), 0x3f800000) X(__fadd_rz(1, x), 0x3f800000) X(__fadd_ru(1, x), 0x3f800001) \
    X(__fadd_rd(1, -x), 0x3f7fffff) X(__fsub_rz(1, x), 0x3f7fffff) \
    X(__fmul_ru(1 + 0x1p-20f, 1 + 0x1p-20f), 0x3f800011) X(__fmul_rd(1 + 0x1p-20f, 1 + 0x1p-20f), 0x3f800010) \
    X(__fdiv_ru(1, 3), 0x3eaaaaab) X(__fdiv_rd(1, 3), 0x3eaaaaaa) \
    X(__fmaf_rn(1 + 0x1p-20f, 1 + 0x1p-20f, -1), 0x36000004) X(__fmaf_ru(1, 1, x), 0x3f800001) \
    X(__frcp_rn(3), 0x3eaaaaab) X(__frcp_ru(3), 0x3eaaaaab) X(__fsqrt_rn(2), 0x3fb504f3) \
    X(__fsqrt_ru(2), 0x3fb504f4) X(__fsqrt_rd(2), 0x3fb504f3)
TABLE_OF(rounded, int, float, , __float_as_int, ROUNDED)

#define ROUNDED_DOUBLES(X) \
    X(__dadd_ru(1, x * 0x1p-40), 0x3ff0000000000001) X(__dadd_rd(1, -x * 0x1p-40), 0x3fefffffffffffff) \
    X(__dmul_rz(1.1, 1.1), 0x3ff35c28f5c28f5c) X(__ddiv_ru(1, 3), 0x3fd5555555555556) \
    X(__ddiv_rn(1, 3), 0x3fd5555555555555) X(__dsqrt_rd(2), 0x3ff6a09e667f3bcc) \
    X(__drcp_rn(3), 0x3fd5555555555555) X(__fma_rn(1 + 0x1p-50, 1 - 0x1p-50, -1), 0xb9b0000000000000)
TABLE_OF(rounded_doubles, long long, float, , __double_as_longlong, ROUNDED_DOUBLES)

#define CASTS(X) \
    X(__float_as_int(1.5f), 0x3fc00000) X(__float_as_uint(-1.5f), 0xbfc00000) \
    X(__int_as_float(0x40490fdb) * 1e6f, 3141592) X(__double_as_longlong(1.5), 0x3ff8000000000000) \
    X(__longlong_as_double(0x400921fb54442d18) * 1e6, 3141592) X(__double2hiint(1.5), 0x3ff80000) \
    X(__double2loint(__longlong_as_double(0x3ff8000012345678)), 0x12345678) \
    X(__hiloint2double(0x40590000, 0), 100) X(__uint_as_float(0x42c80000), 100)
TABLE(casts, long long, float, , CASTS)

#define CONVERSIONS(X) \
    X(__float2int_rn(x), 2) X(__float2int_rz(x), 2) X(__float2int_ru(x), 3) X(__float2int_rd(x), 2) \
    X(__float2int_rn(-x), -2) X(__float2int_rz(1e20f), 2147483647) X(__float2uint_rz(-5.0f), 0) \
    X(__float2uint_rn(3e9f), 3000000000) X(__float2ll_rd(-2.5f), -3) X(__float2ull_ru(2.25f), 3) \
    X(__double2int_rn(3.5), 4) X(__double2int_ru(-3.5), -3) X(__double2uint_rd(7.9), 7) \
    X(__double2ll_rz(-1e15 - 0.5), -1000000000000000) X(__double2ull_rn(0.5), 0) \
    X(__int2float_rn(16777217), 16777216) X(__int2float_ru(16777217), 16777218) \
    X(__int2float_rd(-16777217), -16777218) X(__uint2float_rz(0xffffffffu), 4294967040) \
    X(__ll2float_rn((1ll << 40) + 1), 1ll << 40) X(__ll2double_rn((1ll << 53) + 1), 1ll << 53) \
    X(__ll2double_ru((1ll << 53) + 1), (1ll << 53) + 2) X(__ull2double_rd((1ull << 54) + 3), 1ll << 54) \
    X(__int2double_rn(-7), -7) X(1e6f * __double2float_rn(0.1), 100000) \
    X(__float_as_int(__double2float_ru(0.1)) - __float_as_int(__double2float_rd(0.1)), 1)
TABLE(conversions, long long, float, , CONVERSIONS)

int main()
{
    const double x = 0.375;
    compare("numbers: min, max, abs", least, expected_least(x), x);
    compare("numbers: functions of float", floats, expected_floats(x), x, 2e-6);
    compare("numbers: functions of double", doubles, expected_doubles(x), x, 1e-13);
    compare("numbers: fast functions", fast, expected_fast(x), x, 1e-5);

    Array<float> two(8);
    Array<double> dtwo(4);
    two_results<<<1, 1>>>(two.device(), dtwo.device(), float(x));
    row("numbers: sincos, sincospi",
        two.near({float(sin(x)), float(cos(x)), float(sin(M_PI * x)), float(cos(M_PI * x))}, 1e-6) &&
            dtwo.near({sin(x), cos(x), sin(M_PI * x), cos(M_PI * x)}, 1e-14));
    row("numbers: frexp, modf",
        two.host()[4] == 0.75f && two.host()[5] == 4 && two.host()[6] == 0.75f && two.host()[7] == 3);

    compare("numbers: isnan, isinf, signbit, ilogb, lrint", classes, expected_classes(x), x);
    compare("numbers: arithmetic of float with a rounding", rounded, expected_rounded(x), 0x1p-30);
    compare("numbers: arithmetic of double with a rounding", rounded_doubles, expected_rounded_doubles(x), 0x1p-30);
    compare("numbers: casts", casts, expected_casts(x), x);
    compare("numbers: conversions", conversions, expected_conversions(x), 2.5);
    return wrong_rows() != 0;
}
