// Mathematics, roundings, casts and conversions.

#include <algorithm>
#include <cmath>
#include <math_constants.h>

#include "rows.h"


__global__ void least_and_most(double* out, int zero)
{
    int n = 0;
    const int i = zero - 3;
    const unsigned u = 5;
    const long long l = -(1ll << 40);
    out[n++] = min(i, 4);
    out[n++] = max(i, 4);
    out[n++] = min(i, u);  // as unsigned: 5
    out[n++] = max(u, i);
    out[n++] = double(min(l, 1ll));
    out[n++] = double(max(l, 1ll));
    out[n++] = min(1.5f, 2.5f);
    out[n++] = max(1.5f, 2.5f);
    out[n++] = min(1.5, 2.5);
    out[n++] = max(1.5f, 2.5);
    out[n++] = min(short(3), short(-3));
    out[n++] = abs(i);
    out[n++] = double(abs(l));
    out[n++] = abs(-2.5f);
    out[n++] = abs(-2.5);
    out[n++] = fminf(NAN, 2);
    out[n++] = fmax(double(NAN), 3.0);
    out[n++] = umin(3u, 4u) + umax(3u, 4u);
    out[n++] = double(llmin(-5, 4) + llmax(-5, 4));
}

__global__ void functions(float* out, float x)
{
    int n = 0;
    out[n++] = sinf(x);
    out[n++] = cosf(x);
    out[n++] = tanf(x);
    out[n++] = asinf(x);
    out[n++] = acosf(x);
    out[n++] = atanf(x);
    out[n++] = atan2f(x, 2);
    out[n++] = sinhf(x);
    out[n++] = coshf(x);
    out[n++] = tanhf(x);
    out[n++] = expf(x);
    out[n++] = exp2f(x);
    out[n++] = exp10f(x);
    out[n++] = expm1f(x);
    out[n++] = logf(x);
    out[n++] = log2f(x);
    out[n++] = log10f(x);
    out[n++] = log1pf(x);
    out[n++] = powf(x, 3);
    out[n++] = sqrtf(x);
    out[n++] = rsqrtf(x);
    out[n++] = cbrtf(x);
    out[n++] = rcbrtf(x);
    out[n++] = hypotf(3, 4);
    out[n++] = norm3df(2, 3, 6);
    out[n++] = norm4df(2, 4, 5, 6);
    out[n++] = erff(x);
    out[n++] = erfcf(x);
    out[n++] = erfinvf(x);
    out[n++] = erfcinvf(x);
    out[n++] = normcdff(x);
    out[n++] = tgammaf(x);
    out[n++] = lgammaf(x);
    out[n++] = j0f(x);
    out[n++] = j1f(x);
    out[n++] = y0f(x);
    out[n++] = fmaf(x, 2, 3);
    out[n++] = fmodf(7, 2.5f);
    out[n++] = copysignf(x, -1);
    out[n++] = ldexpf(x, 4);
    out[n++] = floorf(-x);
    out[n++] = ceilf(x);
    out[n++] = truncf(-2.75f);
    out[n++] = roundf(2.5f);
    out[n++] = rintf(2.5f);
    out[n++] = fdimf(3, x);
    out[n++] = sinpif(x);
    out[n++] = cospif(x);
    out[n++] = sin(x);  // the overload for float
    out[n++] = pow(x, 2.0f);
    out[n++] = sqrt(x);
    out[n++] = rsqrt(x);
    out[n++] = cyl_bessel_i0f(x);
    out[n++] = erfcxf(x);
}

__global__ void double_functions(double* out, double x)
{
    int n = 0;
    out[n++] = sin(x);
    out[n++] = cos(x);
    out[n++] = tan(x);
    out[n++] = exp(x);
    out[n++] = log(x);
    out[n++] = pow(x, 2.5);
    out[n++] = sqrt(x);
    out[n++] = rsqrt(x);
    out[n++] = cbrt(x);
    out[n++] = rcbrt(x);
    out[n++] = erf(x);
    out[n++] = erfc(x);
    out[n++] = erfinv(x);
    out[n++] = normcdfinv(x);
    out[n++] = lgamma(x);
    out[n++] = tgamma(x);
    out[n++] = j0(x);
    out[n++] = jn(2, x);
    out[n++] = hypot(x, 1.0);
    out[n++] = norm3d(1, 2, 2);
    out[n++] = rhypot(3, 4);
    out[n++] = fma(x, 2.0, 3.0);
    out[n++] = sinpi(x);
    out[n++] = cospi(x);
    out[n++] = exp10(x);
    out[n++] = cyl_bessel_i1(x);
    out[n++] = erfcx(x);
    out[n++] = CUDART_PI * x;
}

__global__ void fast(float* out, float x)
{
    int n = 0;
    out[n++] = __sinf(x);
    out[n++] = __cosf(x);
    out[n++] = __tanf(x);
    out[n++] = __expf(x);
    out[n++] = __exp10f(x);
    out[n++] = __logf(x);
    out[n++] = __log2f(x);
    out[n++] = __log10f(x);
    out[n++] = __powf(x, 3);
    out[n++] = __fdividef(x, 4);
    out[n++] = __saturatef(2 + x);
    out[n++] = __saturatef(-x);
    out[n++] = __frsqrt_rn(x);
    float s, c;
    __sincosf(x, &s, &c);
    out[n++] = s + c;
}

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

__global__ void classes(int* out, float x)
{
    const float nan = CUDART_NAN_F, infinity = CUDART_INF_F;
    int n = 0;
    out[n++] = isnan(nan) != 0;
    out[n++] = isnan(x) != 0;
    out[n++] = isinf(infinity) != 0;
    out[n++] = isfinite(x) != 0;
    out[n++] = isfinite(double(infinity)) != 0;
    out[n++] = signbit(-x) != 0;
    out[n++] = ilogbf(40);
    out[n++] = int(lrintf(2.5f));
    out[n++] = int(llround(-2.5));
    out[n++] = __float_as_int(nextafterf(1, 2));
}

__global__ void roundings(int* out, long long* dout, float tiny)
{
    int n = 0;
    out[n++] = __float_as_int(__fadd_rn(1, tiny));
    out[n++] = __float_as_int(__fadd_rz(1, tiny));
    out[n++] = __float_as_int(__fadd_ru(1, tiny));
    out[n++] = __float_as_int(__fadd_rd(1, -tiny));
    out[n++] = __float_as_int(__fsub_rz(1, tiny));
    out[n++] = __float_as_int(__fmul_ru(1 + 0x1p-20f, 1 + 0x1p-20f));
    out[n++] = __float_as_int(__fmul_rd(1 + 0x1p-20f, 1 + 0x1p-20f));
    out[n++] = __float_as_int(__fdiv_ru(1, 3));
    out[n++] = __float_as_int(__fdiv_rd(1, 3));
    out[n++] = __float_as_int(__fmaf_rn(1 + 0x1p-20f, 1 + 0x1p-20f, -1));
    out[n++] = __float_as_int(__fmaf_ru(1, 1, tiny));
    out[n++] = __float_as_int(__frcp_rn(3));
    out[n++] = __float_as_int(__frcp_ru(3));
    out[n++] = __float_as_int(__fsqrt_rn(2));
    out[n++] = __float_as_int(__fsqrt_ru(2));
    out[n++] = __float_as_int(__fsqrt_rd(2));
    n = 0;
    dout[n++] = __double_as_longlong(__dadd_ru(1, tiny * 0x1p-40));
    dout[n++] = __double_as_longlong(__dadd_rd(1, -tiny * 0x1p-40));
    dout[n++] = __double_as_longlong(__dmul_rz(1.1, 1.1));
    dout[n++] = __double_as_longlong(__ddiv_ru(1, 3));
    dout[n++] = __double_as_longlong(__ddiv_rn(1, 3));
    dout[n++] = __double_as_longlong(__dsqrt_rd(2));
    dout[n++] = __double_as_longlong(__drcp_rn(3));
    dout[n++] = __double_as_longlong(__fma_rn(1 + 0x1p-50, 1 - 0x1p-50, -1));
}

__global__ void casts(long long* out)
{
    int n = 0;
    out[n++] = __float_as_int(1.5f);
    out[n++] = __float_as_uint(-1.5f);
    out[n++] = (long long)(__int_as_float(0x40490fdb) * 1e6f);
    out[n++] = __double_as_longlong(1.5);
    out[n++] = (long long)(__longlong_as_double(0x400921fb54442d18) * 1e6);
    out[n++] = __double2hiint(1.5);
    out[n++] = __double2loint(__longlong_as_double(0x3ff8000012345678));
    out[n++] = (long long)(__hiloint2double(0x40590000, 0));
    out[n++] = (long long)(__uint_as_float(0x42c80000));
}

__global__ void conversions(long long* out, float x)
{
    int n = 0;
    out[n++] = __float2int_rn(x);
    out[n++] = __float2int_rz(x);
    out[n++] = __float2int_ru(x);
    out[n++] = __float2int_rd(x);
    out[n++] = __float2int_rn(-x);
    out[n++] = __float2int_rz(1e20f);
    out[n++] = __float2uint_rz(-5.0f);
    out[n++] = __float2uint_rn(3e9f);
    out[n++] = __float2ll_rd(-2.5f);
    out[n++] = (long long)(__float2ull_ru(2.25f));
    out[n++] = __double2int_rn(3.5);
    out[n++] = __double2int_ru(-3.5);
    out[n++] = __double2uint_rd(7.9);
    out[n++] = __double2ll_rz(-1e15 - 0.5);
    out[n++] = (long long)(__double2ull_rn(0.5));
    out[n++] = (long long)(__int2float_rn(16777217));
    out[n++] = (long long)(__int2float_ru(16777217));
    out[n++] = (long long)(__int2float_rd(-16777217));
    out[n++] = (long long)(__uint2float_rz(0xffffffffu));
    out[n++] = (long long)(__ll2float_rn((1ll << 40) + 1));
    out[n++] = (long long)(__ll2double_rn((1ll << 53) + 1));
    out[n++] = (long long)(__ll2double_ru((1ll << 53) + 1));
    out[n++] = (long long)(__ull2double_rd((1ull << 54) + 3));
    out[n++] = (long long)(__int2double_rn(-7));
    out[n++] = (long long)(1e6f * __double2float_rn(0.1));
    out[n++] = __float_as_int(__double2float_ru(0.1)) - __float_as_int(__double2float_rd(0.1));
}

int main()
{
    Array<double> least(19);
    least_and_most<<<1, 1>>>(least.device(), 0);
    row("numbers: min, max, abs", least.is({-3, 4, 5, 4294967293.0, -double(1ll << 40), 1, 1.5, 2.5, 1.5, 2.5, -3, 3,
                                            double(1ll << 40), 2.5, 2.5, 2, 3, 7, -1}));

    const double x = 0.375;
    Array<float> floats(54);
    functions<<<1, 1>>>(floats.device(), float(x));
    const double pi = M_PI;
    row("numbers: functions of float", floats.near({float(sin(x)),
                                                    float(cos(x)),
                                                    float(tan(x)),
                                                    float(asin(x)),
                                                    float(acos(x)),
                                                    float(atan(x)),
                                                    float(atan2(x, 2)),
                                                    float(sinh(x)),
                                                    float(cosh(x)),
                                                    float(tanh(x)),
                                                    float(exp(x)),
                                                    float(exp2(x)),
                                                    float(pow(10, x)),
                                                    float(expm1(x)),
                                                    float(log(x)),
                                                    float(log2(x)),
                                                    float(log10(x)),
                                                    float(log1p(x)),
                                                    float(pow(x, 3)),
                                                    float(sqrt(x)),
                                                    float(1 / sqrt(x)),
                                                    float(cbrt(x)),
                                                    float(1 / cbrt(x)),
                                                    5,
                                                    7,
                                                    9,
                                                    float(erf(x)),
                                                    float(erfc(x)),
                                                    0.345617115f,
                                                    0.627307348f,
                                                    float(erfc(-x / sqrt(2)) / 2),
                                                    float(tgamma(x)),
                                                    float(lgamma(x)),
                                                    float(j0(x)),
                                                    float(j1(x)),
                                                    float(y0(x)),
                                                    3.75f,
                                                    2,
                                                    -0.375f,
                                                    6,
                                                    -1,
                                                    1,
                                                    -2,
                                                    3,
                                                    2,
                                                    2.625f,
                                                    float(sin(pi * x)),
                                                    float(cos(pi * x)),
                                                    float(sin(x)),
                                                    float(x * x),
                                                    float(sqrt(x)),
                                                    float(1 / sqrt(x)),
                                                    1.03546645f,
                                                    float(exp(x * x) * erfc(x))},
                                                   2e-6));

    Array<double> doubles(28);
    double_functions<<<1, 1>>>(doubles.device(), x);
    row("numbers: functions of double", doubles.near({sin(x),
                                                      cos(x),
                                                      tan(x),
                                                      exp(x),
                                                      log(x),
                                                      pow(x, 2.5),
                                                      sqrt(x),
                                                      1 / sqrt(x),
                                                      cbrt(x),
                                                      1 / cbrt(x),
                                                      erf(x),
                                                      erfc(x),
                                                      0.34561711478320656,
                                                      -0.3186393639643753,
                                                      lgamma(x),
                                                      tgamma(x),
                                                      j0(x),
                                                      jn(2, x),
                                                      hypot(x, 1),
                                                      3,
                                                      0.2,
                                                      3.75,
                                                      sin(pi * x),
                                                      cos(pi * x),
                                                      pow(10, x),
                                                      0.19081526701982354,
                                                      exp(x * x) * erfc(x),
                                                      pi * x},
                                                     1e-13));

    Array<float> quick(14);
    fast<<<1, 1>>>(quick.device(), float(x));
    row("numbers: fast functions",
        quick.near({float(sin(x)), float(cos(x)), float(tan(x)), float(exp(x)), float(pow(10, x)), float(log(x)),
                    float(log2(x)), float(log10(x)), float(pow(x, 3)), 0.09375f, 1, 0, float(1 / sqrt(x)),
                    float(sin(x) + cos(x))},
                   1e-5));

    Array<float> two(8);
    Array<double> dtwo(4);
    two_results<<<1, 1>>>(two.device(), dtwo.device(), float(x));
    row("numbers: sincos, sincospi",
        two.near({float(sin(x)), float(cos(x)), float(sin(pi * x)), float(cos(pi * x))}, 1e-6) &&
            dtwo.near({sin(x), cos(x), sin(pi * x), cos(pi * x)}, 1e-14));
    row("numbers: frexp, modf",
        two.host()[4] == 0.75f && two.host()[5] == 4 && two.host()[6] == 0.75f && two.host()[7] == 3);

    Array<int> kinds(10);
    classes<<<1, 1>>>(kinds.device(), float(x));
    row("numbers: isnan, isinf, signbit, ilogb, lrint", kinds.is({1, 0, 1, 1, 0, 1, 5, 2, -3, 0x3f800001}));

    Array<int> rounded(16);
    Array<long long> drounded(8);
    roundings<<<1, 1>>>(rounded.device(), drounded.device(), ldexpf(1, -30));
    row("numbers: arithmetic of float with a rounding",
        rounded.is({0x3f800000, 0x3f800000, 0x3f800001, 0x3f7fffff, 0x3f7fffff, 0x3f800011, 0x3f800010, 0x3eaaaaab,
                    0x3eaaaaaa, 0x36000004, 0x3f800001, 0x3eaaaaab, 0x3eaaaaab, 0x3fb504f3, 0x3fb504f4, 0x3fb504f3}));
    row("numbers: arithmetic of double with a rounding",
        drounded.is({0x3ff0000000000001, 0x3fefffffffffffff, 0x3ff35c28f5c28f5c, 0x3fd5555555555556, 0x3fd5555555555555,
                     0x3ff6a09e667f3bcc, 0x3fd5555555555555, (long long)(0xb9b0000000000000)}));

    Array<long long> bits(9);
    casts<<<1, 1>>>(bits.device());
    row("numbers: casts",
        bits.is({0x3fc00000, 0xbfc00000, 3141592, 0x3ff8000000000000, 3141592, 0x3ff80000, 0x12345678, 100, 100}));

    Array<long long> converted(26);
    conversions<<<1, 1>>>(converted.device(), 2.5f);
    row("numbers: conversions",
        converted.is({2,        2,         3,          2,         -2,        2147483647,        0,         3000000000,
                      -3,       3,         4,          -3,        7,         -1000000000000000, 0,         16777216,
                      16777218, -16777218, 4294967040, 1ll << 40, 1ll << 53, (1ll << 53) + 2,   1ll << 54, -7,
                      100000,   1}));
    return wrong_rows() != 0;
}
