// Complex numbers, for the host and for kernels.

#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

SIM_INLINE cuFloatComplex make_cuFloatComplex(float real, float imaginary) { return make_float2(real, imaginary); }
SIM_INLINE float cuCrealf(cuFloatComplex x) { return x.x; }
SIM_INLINE float cuCimagf(cuFloatComplex x) { return x.y; }
SIM_INLINE cuFloatComplex cuConjf(cuFloatComplex x) { return make_float2(x.x, -x.y); }
SIM_INLINE cuFloatComplex cuCaddf(cuFloatComplex x, cuFloatComplex y) { return make_float2(x.x + y.x, x.y + y.y); }
SIM_INLINE cuFloatComplex cuCsubf(cuFloatComplex x, cuFloatComplex y) { return make_float2(x.x - y.x, x.y - y.y); }
SIM_INLINE cuFloatComplex cuCmulf(cuFloatComplex x, cuFloatComplex y) { return make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }
SIM_INLINE float cuCabsf(cuFloatComplex x) { return ::hypotf(x.x, x.y); }
// The divisor is scaled first: its square may leave the range of the type.
SIM_INLINE cuFloatComplex cuCdivf(cuFloatComplex x, cuFloatComplex y)
{
    const float scale = 1 / (::fabsf(y.x) + ::fabsf(y.y));
    const cuFloatComplex a = make_float2(x.x * scale, x.y * scale), b = make_float2(y.x * scale, y.y * scale);
    const float square = b.x * b.x + b.y * b.y;
    return make_float2((a.x * b.x + a.y * b.y) / square, (a.y * b.x - a.x * b.y) / square);
}
// x * y + z
SIM_INLINE cuFloatComplex cuCfmaf(cuFloatComplex x, cuFloatComplex y, cuFloatComplex z)
{
    return make_float2(x.x * y.x + z.x - x.y * y.y, x.x * y.y + z.y + x.y * y.x);
}

SIM_INLINE cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) { return make_double2(real, imaginary); }
SIM_INLINE double cuCreal(cuDoubleComplex x) { return x.x; }
SIM_INLINE double cuCimag(cuDoubleComplex x) { return x.y; }
SIM_INLINE cuDoubleComplex cuConj(cuDoubleComplex x) { return make_double2(x.x, -x.y); }
SIM_INLINE cuDoubleComplex cuCadd(cuDoubleComplex x, cuDoubleComplex y) { return make_double2(x.x + y.x, x.y + y.y); }
SIM_INLINE cuDoubleComplex cuCsub(cuDoubleComplex x, cuDoubleComplex y) { return make_double2(x.x - y.x, x.y - y.y); }
SIM_INLINE cuDoubleComplex cuCmul(cuDoubleComplex x, cuDoubleComplex y) { return make_double2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }
SIM_INLINE double cuCabs(cuDoubleComplex x) { return ::hypot(x.x, x.y); }
// The divisor is scaled first: its square may leave the range of the type.
SIM_INLINE cuDoubleComplex cuCdiv(cuDoubleComplex x, cuDoubleComplex y)
{
    const double scale = 1 / (::fabs(y.x) + ::fabs(y.y));
    const cuDoubleComplex a = make_double2(x.x * scale, x.y * scale), b = make_double2(y.x * scale, y.y * scale);
    const double square = b.x * b.x + b.y * b.y;
    return make_double2((a.x * b.x + a.y * b.y) / square, (a.y * b.x - a.x * b.y) / square);
}
// x * y + z
SIM_INLINE cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex z)
{
    return make_double2(x.x * y.x + z.x - x.y * y.y, x.x * y.y + z.y + x.y * y.x);
}

SIM_INLINE cuComplex make_cuComplex(float real, float imaginary) { return make_cuFloatComplex(real, imaginary); }
SIM_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_cuDoubleComplex(x.x, x.y); }
SIM_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return make_cuFloatComplex(float(x.x), float(x.y)); }
