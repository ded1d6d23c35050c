// Atomic operations. They are atomic on the host, too: other host threads run other blocks.

#pragma once
#pragma GCC system_header

#include "base.h"

// The body of a function: replaces what is at `address` by `change`, an expression of `old`, and
// returns `old`. A macro, because a function that is handed one would not be inlined, and watched.
#define SIM_CHANGE(T, address, change)                                                                             \
    sim::access(address, sizeof(T), sim::atomic, SIM_PLACE);                                                       \
    auto* const word = reinterpret_cast<sim::Bits<T>*>(address);                                                   \
    sim::Bits<T> before = __atomic_load_n(word, __ATOMIC_SEQ_CST);                                                 \
    for (;;) {                                                                                                     \
        const T old = sim::bit_cast<T>(before);                                                                    \
        const T next = static_cast<T>(change);                                                                     \
        if (__atomic_compare_exchange_n(word, &before, sim::bit_cast<sim::Bits<T>>(next), false, __ATOMIC_SEQ_CST, \
                                        __ATOMIC_SEQ_CST))                                                         \
            return old;                                                                                            \
    }

#define SIM_ATOMIC(T, name, change)                                                          \
    SIM_FUNCTION inline T name(T* address, T value) { SIM_CHANGE(T, address, change) }       \
    SIM_FUNCTION inline T name##_block(T* address, T value) { SIM_CHANGE(T, address, change) } \
    SIM_FUNCTION inline T name##_system(T* address, T value) { SIM_CHANGE(T, address, change) }

#define SIM_COMPARE_AND_SWAP(T, name)                                                    \
    SIM_FUNCTION inline T name(T* address, T compare, T value)                           \
    {                                                                                    \
        sim::confirm(address, sizeof(T));                                                \
        SIM_CHANGE(T, address, old == compare ? value : old)                             \
    }

#define SIM_ATOMIC_INTEGER(T)                                                         \
    SIM_ATOMIC(T, atomicAdd, (unsigned long long)(old) + (unsigned long long)(value)) \
    SIM_ATOMIC(T, atomicExch, value)                                                  \
    SIM_ATOMIC(T, atomicMin, value < old ? value : old)                               \
    SIM_ATOMIC(T, atomicMax, value > old ? value : old)                               \
    SIM_ATOMIC(T, atomicAnd, old & value)                                             \
    SIM_ATOMIC(T, atomicOr, old | value)                                              \
    SIM_ATOMIC(T, atomicXor, old ^ value)                                             \
    SIM_COMPARE_AND_SWAP(T, atomicCAS)                                                \
    SIM_COMPARE_AND_SWAP(T, atomicCAS_block)                                          \
    SIM_COMPARE_AND_SWAP(T, atomicCAS_system)

SIM_ATOMIC_INTEGER(int)
SIM_ATOMIC_INTEGER(unsigned)
SIM_ATOMIC_INTEGER(unsigned long long)
SIM_ATOMIC(int, atomicSub, unsigned(old) - unsigned(value))
SIM_ATOMIC(unsigned, atomicSub, old - value)
SIM_ATOMIC(unsigned, atomicInc, old >= value ? 0 : old + 1)
SIM_ATOMIC(unsigned, atomicDec, old == 0 || old > value ? value : old - 1)
SIM_ATOMIC(long long, atomicMin, value < old ? value : old)
SIM_ATOMIC(long long, atomicMax, value > old ? value : old)
SIM_ATOMIC(long long, atomicAnd, old & value)
SIM_ATOMIC(long long, atomicOr, old | value)
SIM_ATOMIC(long long, atomicXor, old ^ value)
SIM_ATOMIC(float, atomicAdd, old + value)
SIM_ATOMIC(float, atomicExch, value)
SIM_ATOMIC(double, atomicAdd, old + value)
SIM_COMPARE_AND_SWAP(unsigned short, atomicCAS)
SIM_COMPARE_AND_SWAP(unsigned short, atomicCAS_block)
SIM_COMPARE_AND_SWAP(unsigned short, atomicCAS_system)

#undef SIM_ATOMIC_INTEGER
#undef SIM_COMPARE_AND_SWAP
