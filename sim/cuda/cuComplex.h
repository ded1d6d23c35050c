// Complex numbers, for the host and for kernels.

#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

// `f`: what the names of the functions for this type end in. cuCfma gives x * y + z. cuCdiv scales the divisor first,
// because its square may leave the range of the type.
#define SIM_COMPLEX(real, pair, f) \
    SIM_INLINE pair make_##pair(real x, real y) { return pair{x, y}; } \
    SIM_INLINE real cuCreal##f(pair x) { return x.x; } \
    SIM_INLINE real cuCimag##f(pair x) { return x.y; } \
    SIM_INLINE pair cuConj##f(pair x) { return pair{x.x, -x.y}; } \
    SIM_INLINE pair cuCadd##f(pair x, pair y) { return pair{x.x + y.x, x.y + y.y}; } \
    SIM_INLINE pair cuCsub##f(pair x, pair y) { return pair{x.x - y.x, x.y - y.y}; } \
    SIM_INLINE pair cuCmul##f(pair x, pair y) { return pair{x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; } \
    SIM_INLINE pair cuCfma##f(pair x, pair y, pair z) \
    { \
        return pair{x.x * y.x + z.x - x.y * y.y, x.x * y.y + z.y + x.y * y.x}; \
    } \
    SIM_INLINE real cuCabs##f(pair x) { return ::hypot##f(x.x, x.y); } \
    SIM_INLINE pair cuCdiv##f(pair x, pair y) \
    { \
        const real scale = 1 / (::fabs##f(y.x) + ::fabs##f(y.y)); \
        const pair a{x.x * scale, x.y * scale}, b{y.x * scale, y.y * scale}; \
        const real square = b.x * b.x + b.y * b.y; \
        return pair{(a.x * b.x + a.y * b.y) / square, (a.y * b.x - a.x * b.y) / square}; \
    }
SIM_COMPLEX(float, cuFloatComplex, f)
SIM_COMPLEX(double, cuDoubleComplex, )
#undef SIM_COMPLEX

SIM_INLINE cuComplex make_cuComplex(float real, float imaginary) { return make_cuFloatComplex(real, imaginary); }
SIM_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_cuDoubleComplex(x.x, x.y); }
SIM_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x)
{
    return make_cuFloatComplex(float(x.x), float(x.y));
}
