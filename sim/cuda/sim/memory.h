// Loads and stores with a cache operator, the kinds of memory, and what else a thread can do.

#pragma once
#pragma GCC system_header

#include <time.h>

#include "base.h"

namespace sim {

// Where an address lies in the shared memory of the block. False if it is not in there.
bool shared_offset(const void* address, size_t* offset);

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
SIM_INLINE Storing<T> storing(T* where, SameAs<T> value)
{
    return {where, value};
}

}  // namespace sim

// Macros, so that the access is made in the text of the kernel. Cache operators change no result.
#define __ldg(...) (*::sim::afresh(__VA_ARGS__))
#define __ldca(...) (*::sim::afresh(__VA_ARGS__))
#define __ldcg(...) (*::sim::afresh(__VA_ARGS__))
#define __ldcs(...) (*::sim::afresh(__VA_ARGS__))
#define __ldlu(...) (*::sim::afresh(__VA_ARGS__))
#define __ldcv(...) (*::sim::awaited(__VA_ARGS__))

#define SIM_STORE(...)                                           \
    (__extension__({                                             \
        const auto sim_storing = ::sim::storing(__VA_ARGS__);    \
        *sim_storing.where = sim_storing.value;                  \
        (void)0;                                                 \
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
