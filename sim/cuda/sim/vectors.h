// The vector types: char1 to double4, with CUDA's sizes and alignments.
//
// A copy must be one access of all its bytes, as it is on hardware. Types with constructors see to it:
// in `odata[i] = float4{a, b, c, d}`, g++ stores the elements of an aggregate one by one.

#pragma once
#pragma GCC system_header

#include "base.h"

namespace sim {

template <size_t bytes>
struct Block : UnsignedOf<bytes> {};
template <>
struct Block<16> {
    typedef unsigned type __attribute__((vector_size(16), may_alias));
};

}  // namespace sim

// From one number, the first element: `float4 sum = {0}`.
#define SIM_FROM_FIRST(type, ...) \
    template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>> \
    constexpr SIM_INLINE_MEMBER type(Number x) : __VA_ARGS__ \
    { \
    }

#define SIM_VECTOR1(name, Element) \
    struct name##1 { \
        Element x; \
    }; \
    SIM_INLINE name##1 make_##name##1(Element x) { return {x}; }

#define SIM_VECTOR2(name, Element) \
    struct alignas(2 * sizeof(Element)) name##2 { \
        Element x, y; \
        name##2() = default; \
        SIM_FROM_FIRST(name##2, x(static_cast<Element>(x)), y(0)) \
        constexpr SIM_INLINE_MEMBER name##2(Element x, Element y) : x(x), y(y) {} \
    }; \
    SIM_INLINE name##2 make_##name##2(Element x, Element y) { return name##2(x, y); }

// Aligned as its elements: hardware moves one element at a time.
#define SIM_VECTOR3(name, Element) \
    struct name##3 { \
        Element x, y, z; \
    };

#define SIM_VECTOR4(name, Element, alignment) \
    struct alignas(alignment) name { \
        Element x, y, z, w; \
        name() = default; \
        SIM_FROM_FIRST(name, x(static_cast<Element>(x)), y(0), z(0), w(0)) \
        constexpr SIM_INLINE_MEMBER name(Element x, Element y, Element z = 0, Element w = 0) \
            : x(x), y(y), z(z), w(w) {} \
    }; \
    SIM_INLINE name make_##name(Element x, Element y, Element z, Element w) { return name(x, y, z, w); }

#define SIM_MAKE3(name, Element) \
    SIM_INLINE name##3 make_##name##3(Element x, Element y, Element z) { return {x, y, z}; }

#define SIM_VECTORS(name, Element) \
    SIM_VECTOR1(name, Element) \
    SIM_VECTOR2(name, Element) \
    SIM_VECTOR3(name, Element) \
    SIM_MAKE3(name, Element) \
    SIM_VECTOR4(name##4, Element, 4 * sizeof(Element) < 16 ? 4 * sizeof(Element) : 16)

SIM_VECTORS(char, signed char)
SIM_VECTORS(uchar, unsigned char)
SIM_VECTORS(short, short)
SIM_VECTORS(ushort, unsigned short)
SIM_VECTORS(int, int)
SIM_VECTORS(long, long)
SIM_VECTORS(ulong, unsigned long)
SIM_VECTORS(longlong, long long)
SIM_VECTORS(ulonglong, unsigned long long)
SIM_VECTORS(float, float)
SIM_VECTORS(double, double)

// uint3 is the type of threadIdx: launch.h.
SIM_VECTOR1(uint, unsigned)
SIM_VECTOR2(uint, unsigned)
SIM_MAKE3(uint, unsigned)
SIM_VECTOR4(uint4, unsigned, 16)

// From CUDA 13 on, the alignment of 32 bytes is part of the name.
SIM_VECTOR4(long4_16a, long, 16)
SIM_VECTOR4(long4_32a, long, 32)
SIM_VECTOR4(ulong4_16a, unsigned long, 16)
SIM_VECTOR4(ulong4_32a, unsigned long, 32)
SIM_VECTOR4(longlong4_16a, long long, 16)
SIM_VECTOR4(longlong4_32a, long long, 32)
SIM_VECTOR4(ulonglong4_16a, unsigned long long, 16)
SIM_VECTOR4(ulonglong4_32a, unsigned long long, 32)
SIM_VECTOR4(double4_16a, double, 16)
SIM_VECTOR4(double4_32a, double, 32)

#undef SIM_VECTOR1
#undef SIM_VECTOR2
#undef SIM_VECTOR3
#undef SIM_VECTOR4
#undef SIM_MAKE3
#undef SIM_VECTORS
