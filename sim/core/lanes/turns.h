// Where a thread is in its loops and calls. The rewriter puts these markers around the loops and the calls of a kernel.

#pragma once

#include <cstddef>
#include <cstdint>

#include "../memory/function.h"

namespace sim {

// A number that two lanes share if and only if (but for one case in 2^26) they are in the same turn of the same loops
// on the same path of calls. The lower bits are 0: there the hooks put the place of an access.
constexpr int turn_shift = 38;
constexpr uint64_t turn_bits = ~uint64_t(0) << turn_shift;
extern __thread uint64_t turn;

// An access by assembly code is one that the compiler does not watch.
#if defined __x86_64__
#define SIM_PEEK(value, variable) asm volatile("movq %1, %0" : "=r"(value) : "m"(variable))
#define SIM_POKE(variable, value) asm volatile("movq %1, %0" : "=m"(variable) : "r"(value))
#define SIM_HERE(value) asm volatile("leaq 0(%%rip), %0" : "=r"(value))
#elif defined __aarch64__
#define SIM_PEEK(value, variable) asm volatile("ldr %0, %1" : "=r"(value) : "m"(variable))
#define SIM_POKE(variable, value) asm volatile("str %1, %0" : "=m"(variable) : "r"(value))
#define SIM_HERE(value) asm volatile("adr %0, ." : "=r"(value))
#else
#error "the simulator runs on x86-64 and on aarch64"
#endif

// Multiples of the golden ratio keep away from each other, in nested loops, too.
constexpr uint64_t golden = 0x9e3779b97f4a7c15u;
constexpr __attribute__((always_inline)) uint64_t mixed(uint64_t outer, uint64_t with)
{
    return (outer ^ with) * golden;
}

// Parts of the markers of a loop. They keep no state in a structure, because the compiler would have it in
// memory.
__attribute__((always_inline)) inline uint64_t outer_turn()
{
    uint64_t outer;
    SIM_PEEK(outer, turn);
    return outer;
}

// Turn 0 of a loop of the file, each of which has a number. Its lowest 16 bits count the turns.
template <unsigned loop>
__attribute__((always_inline)) inline uint64_t first_turn(uint64_t outer)
{
    return mixed(outer, loop) & ~uint64_t(0xffff);
}

constexpr __attribute__((always_inline)) uint64_t next_of(uint64_t last)
{
    return last + ((golden & ~uint64_t(0xffff)) | 1);
}

__attribute__((always_inline)) inline uint64_t next_turn(uint64_t last)
{
    const uint64_t next = next_of(last), now = next & turn_bits;
    SIM_POKE(turn, now);
    return next;
}

// True if it is time for long_loop(). The kernel itself calls it, so that its return address lies in the loop.
constexpr __attribute__((always_inline)) bool is_long(uint64_t turn)
{
    return __builtin_expect(uint16_t(turn) == 0, 0);
}

// Surrounds a loop. However the loop is left, the thread's turn is then the outer one again.
class Loop {
public:
    __attribute__((always_inline)) explicit Loop(uint64_t outer) : outer_(outer) {}
    __attribute__((always_inline)) ~Loop() { SIM_POKE(turn, outer_); }

private:
    uint64_t outer_;
};

// Stands at the beginning of a function that a kernel calls. Two calls differ in their return addresses or, where the
// compiler has inlined them, in the address of this code.
class Call {
public:
    __attribute__((always_inline)) Call()
    {
        uintptr_t here;
        SIM_HERE(here);
        SIM_PEEK(outer_, turn);
        const uint64_t now = mixed(outer_, uintptr_t(__builtin_return_address(0)) + here) & turn_bits;
        SIM_POKE(turn, now);
    }
    __attribute__((always_inline)) ~Call() { SIM_POKE(turn, outer_); }

private:
    uint64_t outer_;
};

// Stands at the end of a kernel: the thread has come there, and has not left by `return`. An early return from a
// function with a barrier counts as `return`, too.
extern __thread uint64_t end_of_kernel;
__attribute__((always_inline)) inline void ends() { SIM_POKE(end_of_kernel, uint64_t(1)); }

// Ends the running thread. True if this fiber goes on with another one, with threadIdx set.
bool next_thread();

}  // namespace sim
