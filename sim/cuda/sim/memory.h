// Loads and stores with a cache operator, the kinds of memory, and what else a thread can do.

#pragma once
#pragma GCC system_header

#include <time.h>

#include "base.h"
#include "vectors.h"

namespace sim {

// Where an address lies in the shared memory of the block. False if it is not in there.
bool shared_offset(const void* address, size_t* offset);

// CUDA declares loads with a cache operator for some types, and none for other structures. half.h adds its own.
template <typename T, typename... Types>
constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
template <typename T>
constexpr bool has_cached_loads = is_one_of<
    std::remove_cv_t<T>, char, signed char, short, int, long, long long, unsigned char, unsigned short, unsigned,
    unsigned long, unsigned long long, float, double, char2, char4, short2, short4, int2, int4, longlong2, uchar2,
    uchar4, ushort2, ushort4, uint2, uint4, ulonglong2, float2, float4, double2>;
template <typename T, typename = std::enable_if_t<has_cached_loads<T>>>
SIM_INLINE const T* of_a_type_that_cuda_loads(const T* pointer) { return pointer; }

// A pointer of which the compiler knows nothing: no load through it is made one with another.
template <typename T>
SIM_INLINE const T* afresh(const T* pointer)
{
    asm volatile("" : "+r"(pointer));
    return pointer;
}
template <typename T>
SIM_INLINE auto awaited(const T* pointer)
{
    if constexpr (std::is_scalar_v<T>) return static_cast<const volatile T*>(pointer);
    else return afresh(pointer);
}

template <typename T>
struct Storing {
    T* where;
    T value;
};
template <typename T>
SIM_INLINE Storing<T> storing(T* where, SameAs<T> value) { return {where, value}; }

}  // namespace sim

// Macros, so that the access is made in the text of the kernel. Cache operators change no result.
#define SIM_LOADED(...) (*::sim::afresh(::sim::of_a_type_that_cuda_loads(__VA_ARGS__)))
#define __ldg(...) SIM_LOADED(__VA_ARGS__)
#define __ldca(...) SIM_LOADED(__VA_ARGS__)
#define __ldcg(...) SIM_LOADED(__VA_ARGS__)
#define __ldcs(...) SIM_LOADED(__VA_ARGS__)
#define __ldlu(...) SIM_LOADED(__VA_ARGS__)
#define __ldcv(...) (*::sim::awaited(::sim::of_a_type_that_cuda_loads(__VA_ARGS__)))

#define SIM_STORE(...) \
    (__extension__({ \
        const auto sim_storing = ::sim::storing(__VA_ARGS__); \
        *sim_storing.where = sim_storing.value; \
        (void)0; \
    }))
#define __stwb(...) SIM_STORE(__VA_ARGS__)
#define __stcg(...) SIM_STORE(__VA_ARGS__)
#define __stcs(...) SIM_STORE(__VA_ARGS__)
#define __stwt(...) SIM_STORE(__VA_ARGS__)

SIM_FUNCTION inline unsigned __isShared(const void* address)
{
    size_t offset;
    return sim::shared_offset(address, &offset);
}
SIM_FUNCTION inline size_t __cvta_generic_to_shared(const void* address)
{
    size_t offset;
    if (!sim::shared_offset(address, &offset))
        sim::fail("__cvta_generic_to_shared() of an address outside shared memory", SIM_PLACE);
    return offset;
}
// The stack of the host stands for local memory.
SIM_FUNCTION inline unsigned __isLocal(const void* address)
{
    size_t offset;
    const uintptr_t here = uintptr_t(__builtin_frame_address(0)), there = uintptr_t(address);
    return !sim::shared_offset(address, &offset) && there - here + (1u << 16) < (1u << 20);
}
SIM_FUNCTION inline unsigned __isGlobal(const void* address) { return !__isShared(address) && !__isLocal(address); }
SIM_FUNCTION inline size_t __cvta_generic_to_global(const void* address) { return size_t(address); }

SIM_FUNCTION inline void __trap() { sim::fail("trap", SIM_PLACE); }
SIM_FUNCTION inline void __brkpt() { sim::fail("breakpoint", SIM_PLACE); }

// In a kernel, the C library's clock() counts what the thread did. For all of the program: this definition
// takes the place of the library's.
extern "C" SIM_FUNCTION inline clock_t clock() noexcept
{
    if (sim::in_kernel()) return clock_t(sim::progress());
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return clock_t(now.tv_sec) * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}
SIM_FUNCTION inline long long clock64() { return (long long)(sim::progress()); }
SIM_FUNCTION inline void __nanosleep(unsigned) { sim::pass_turn(SIM_PLACE); }

// An assumption is for the compiler of the GPU.
#define __assume(...) static_cast<void>(0)
#ifndef __clang__
#define __builtin_assume(...) static_cast<void>(0)
#endif
