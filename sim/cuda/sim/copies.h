// Asynchronous copies to shared memory. The simulator makes them at once: waiting for them is then a
// matter of barriers alone.

#pragma once
#pragma GCC system_header

#include "../cuda_runtime.h"

namespace sim {

// One piece of a copy. Only that from global to shared memory goes past the registers.
template <typename Unit>
SIM_FUNCTION void copy_piece(void* to, const void* from, const void* place)
{
    size_t offset;
    if (shared_offset(to, &offset) && !shared_offset(from, &offset) && sizeof(Unit) >= 4)
        return copy_async(to, from, sizeof(Unit), 0, place);
    access(from, sizeof(Unit), load, place);
    access(to, sizeof(Unit), store, place);
    *static_cast<Unit*>(to) = *static_cast<const Unit*>(from);
}

// The pieces number `first`, `first + step`, ... of a copy that is cut into pieces of this size.
template <typename Unit>
SIM_FUNCTION void copy_pieces(void* to, const void* from, size_t bytes, unsigned first, unsigned step,
                              const void* place)
{
    Turns turns;
    for (size_t at = first * sizeof(Unit); at + sizeof(Unit) <= bytes; at += step * sizeof(Unit)) {
        turns.next();
        copy_piece<Unit>(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, place);
    }
}

// This thread's part of a copy that `step` threads make together: pieces as large as the addresses allow, and
// what is known of their alignment: the program promises it.
SIM_FUNCTION inline void copy_part(void* to, const void* from, size_t bytes, unsigned first, unsigned step,
                                   const void* place, size_t alignment = 1)
{
    need_aligned(from, alignment, load, place);
    need_aligned(to, alignment, store, place);
    const uintptr_t all = uintptr_t(to) | uintptr_t(from) | bytes | (alignment > 1 ? alignment : 16);
    if (all % 16 == 0) return copy_pieces<Block<16>::type>(to, from, bytes, first, step, place);
    if (all % 8 == 0) return copy_pieces<Block<8>::type>(to, from, bytes, first, step, place);
    if (all % 4 == 0) return copy_pieces<Block<4>::type>(to, from, bytes, first, step, place);
    copy_pieces<Block<1>::type>(to, from, bytes, first, step, place);
}

}  // namespace sim
