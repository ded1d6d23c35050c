// Atomic operations. They are atomic on the host, too: other host threads run other blocks.

#pragma once
#pragma GCC system_header

#include "base.h"

// The body of a function that replaces what is at `address` by `change`, an expression of `old`, and returns `old`.
#define SIM_CHANGE(T, address, change) \
    sim::access(address, sizeof(T), sim::atomic, SIM_PLACE); \
    SIM_REPLACE(T, address, change, old)

#define SIM_ATOMIC(T, name, change) \
    SIM_FUNCTION inline T name(T* address, T value) { SIM_CHANGE(T, address, change) } \
    SIM_FUNCTION inline T name##_block(T* address, T value) { SIM_CHANGE(T, address, change) } \
    SIM_FUNCTION inline T name##_system(T* address, T value) { SIM_CHANGE(T, address, change) }

#define SIM_COMPARE_AND_SWAP_AS(T, name) \
    SIM_FUNCTION inline T name(T* address, T compare, T value) \
    { \
        sim::confirm(address, sizeof(T)); \
        SIM_CHANGE(T, address, old == compare ? value : old) \
    }
#define SIM_COMPARE_AND_SWAP(T) \
    SIM_COMPARE_AND_SWAP_AS(T, atomicCAS) \
    SIM_COMPARE_AND_SWAP_AS(T, atomicCAS_block) \
    SIM_COMPARE_AND_SWAP_AS(T, atomicCAS_system)

// Every integer of 4 or 8 bytes has these.
#define SIM_ATOMIC_BITS(T) \
    SIM_ATOMIC(T, atomicMin, value < old ? value : old) \
    SIM_ATOMIC(T, atomicMax, value > old ? value : old) \
    SIM_ATOMIC(T, atomicAnd, old & value) \
    SIM_ATOMIC(T, atomicOr, old | value) \
    SIM_ATOMIC(T, atomicXor, old ^ value)
#define SIM_ATOMIC_INTEGER(T) \
    SIM_ATOMIC(T, atomicAdd, (unsigned long long)(old) + (unsigned long long)(value)) \
    SIM_ATOMIC(T, atomicExch, value) \
    SIM_ATOMIC_BITS(T) \
    SIM_COMPARE_AND_SWAP(T)

SIM_ATOMIC_INTEGER(int)
SIM_ATOMIC_INTEGER(unsigned)
SIM_ATOMIC_INTEGER(unsigned long long)
SIM_ATOMIC(int, atomicSub, unsigned(old) - unsigned(value))
SIM_ATOMIC(unsigned, atomicSub, old - value)
SIM_ATOMIC(unsigned, atomicInc, old >= value ? 0 : old + 1)
SIM_ATOMIC(unsigned, atomicDec, old == 0 || old > value ? value : old - 1)
SIM_ATOMIC_BITS(long long)
SIM_ATOMIC(float, atomicAdd, old + value)
SIM_ATOMIC(float, atomicExch, value)
SIM_ATOMIC(double, atomicAdd, old + value)
SIM_COMPARE_AND_SWAP(unsigned short)

#undef SIM_ATOMIC_INTEGER
#undef SIM_ATOMIC_BITS
#undef SIM_COMPARE_AND_SWAP
#undef SIM_COMPARE_AND_SWAP_AS
