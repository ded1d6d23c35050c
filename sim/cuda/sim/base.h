// Definitions that the headers of the CUDA language share.
//
// A function that reaches the simulator is a SIM_FUNCTION: it stays a call, so that its place is the
// line of the kernel, and its own accesses are not watched. Arithmetic is SIM_INLINE: it touches
// nothing but its arguments and its locals, wherever it is inlined.

#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/hooks/launch.h"

// An inlined function has the line of the kernel with clang, and with g++ if its line information is read
// together with what says which function was inlined where.
#ifdef __clang__
#define SIM_INLINE_MEMBER inline __attribute__((always_inline, nodebug))
#else
#define SIM_INLINE_MEMBER inline __attribute__((always_inline, artificial))
#endif
#define SIM_INLINE static SIM_INLINE_MEMBER

namespace sim {

template <size_t bytes>
struct UnsignedOf;
#define SIM_UNSIGNED_OF(bytes, T) \
    template <> \
    struct UnsignedOf<bytes> { \
        typedef T type __attribute__((may_alias)); \
    };
SIM_UNSIGNED_OF(1, uint8_t)
SIM_UNSIGNED_OF(2, uint16_t)
SIM_UNSIGNED_OF(4, uint32_t)
SIM_UNSIGNED_OF(8, uint64_t)
SIM_UNSIGNED_OF(16, unsigned __int128)
#undef SIM_UNSIGNED_OF
template <typename T>
using Bits = typename UnsignedOf<sizeof(T)>::type;

// No memcpy where that can be: the compiler might make it a call, and calls of memcpy are watched.
template <typename To, typename From>
constexpr SIM_INLINE To bit_cast(const From from)
{
    static_assert(sizeof(To) == sizeof(From));
    if constexpr (std::is_trivially_copyable_v<From> && std::is_trivially_copyable_v<To>) {
        return __builtin_bit_cast(To, from);
    } else {
        To to;
        __builtin_memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
        return to;
    }
}

// The turns of a loop of the simulator's own, as the rewriter marks those of a kernel.
class Turns {
public:
    SIM_INLINE_MEMBER Turns() : turns_(first_turn<0x51d0>(outer_turn())), loop_(outer_turn()) {}
    SIM_INLINE_MEMBER void next() { turns_ = next_turn(turns_); }

private:
    uint64_t turns_;
    Loop loop_;
};

// An argument that no template parameter is deduced from.
template <typename T>
struct Same {
    using type = T;
};
template <typename T>
using SameAs = typename Same<T>::type;

}  // namespace sim

// The end of a function: replaces what is at `address` by `change`, an expression of `old`, and returns `result`, an
// expression of `old` and `next`. A macro, because a function that is handed one would not be inlined, and watched.
#define SIM_REPLACE(T, address, change, result) \
    auto* const word = reinterpret_cast<::sim::Bits<T>*>(address); \
    ::sim::Bits<T> before = __atomic_load_n(word, __ATOMIC_SEQ_CST); \
    for (;;) { \
        const T old = ::sim::bit_cast<T>(before); \
        const T next = static_cast<T>(change); \
        if (__atomic_compare_exchange_n(word, &before, ::sim::bit_cast<::sim::Bits<T>>(next), false, \
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
            return result; \
    }
