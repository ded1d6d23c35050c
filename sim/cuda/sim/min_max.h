// min() and max().

#pragma once
#pragma GCC system_header

#include "base.h"

// The overloads that CUDA has, with its results for mixed types. No templates: these win over std::min,
// which a program may have made visible.
#define SIM_LEAST_AND_MOST(T, A, B) \
    SIM_INLINE T min(A a, B b) \
    { \
        const T x = static_cast<T>(a), y = static_cast<T>(b); \
        return x < y ? x : y; \
    } \
    SIM_INLINE T max(A a, B b) \
    { \
        const T x = static_cast<T>(a), y = static_cast<T>(b); \
        return x < y ? y : x; \
    }
#define SIM_LEAST_AND_MOST_INTEGER(Integer) \
    SIM_LEAST_AND_MOST(Integer, Integer, Integer) \
    SIM_LEAST_AND_MOST(unsigned Integer, unsigned Integer, unsigned Integer) \
    SIM_LEAST_AND_MOST(unsigned Integer, Integer, unsigned Integer) \
    SIM_LEAST_AND_MOST(unsigned Integer, unsigned Integer, Integer)
SIM_LEAST_AND_MOST_INTEGER(int)
SIM_LEAST_AND_MOST_INTEGER(long)
SIM_LEAST_AND_MOST_INTEGER(long long)
#undef SIM_LEAST_AND_MOST_INTEGER
#undef SIM_LEAST_AND_MOST

#define SIM_LEAST_AND_MOST_FLOAT(T, A, B, f) \
    SIM_INLINE T min(A a, B b) { return __builtin_fmin##f(a, b); } \
    SIM_INLINE T max(A a, B b) { return __builtin_fmax##f(a, b); }
SIM_LEAST_AND_MOST_FLOAT(float, float, float, f)
SIM_LEAST_AND_MOST_FLOAT(double, double, double, )
SIM_LEAST_AND_MOST_FLOAT(double, float, double, )
SIM_LEAST_AND_MOST_FLOAT(double, double, float, )
#undef SIM_LEAST_AND_MOST_FLOAT

#define SIM_LEAST_AND_MOST_NAMED(T, prefix) \
    SIM_INLINE T prefix##min(T a, T b) { return min(a, b); } \
    SIM_INLINE T prefix##max(T a, T b) { return max(a, b); }
SIM_LEAST_AND_MOST_NAMED(unsigned, u)
SIM_LEAST_AND_MOST_NAMED(long long, ll)
SIM_LEAST_AND_MOST_NAMED(unsigned long long, ull)
#undef SIM_LEAST_AND_MOST_NAMED
