// Watches memory: every access of a simulated thread passes here before it is made.
//
// The compiler puts a call in front of each access (hooks.cpp). Most accesses go where the last ones
// went: those ranges are looked at first, and the access is recorded. Everything else is looked at
// closely: locals and the simulator's own variables are no memory of the GPU's, and what a thread may
// not touch ends the thread, as it would end the kernel on hardware.

#pragma once

#include <cstdint>

#include "memory.h"
#include "requests.h"

namespace sim {

// Ranges of addresses to which accesses of this host thread pass without a closer look, if they are aligned. Ranges
// begin and end at multiples of 16 bytes, so that an access that begins inside ends inside.
struct Likely {
    Range load[2], store[2];  // global memory; where the last ones went first
    Range shared[2];          // one array each
};
extern __thread Likely likely;

// True while a simulated thread runs on this host thread.
extern __thread bool watching;

// The closer look at an access. Returns if it may be made, and has then recorded it if it is to be
// counted. Never inlined: the hooks stay small.
__attribute__((noinline, cold)) void look(uintptr_t address, Site site);

// An access by the host, while a launcher of the harness runs: the matrices are the device's.
void look_at_host(uintptr_t address, Site site);

// Records a volatile access. A thread that loads so may be waiting for another thread's store.
void look_volatile(uintptr_t address, Site site);

// An access to a structure: made in pieces as nvcc would make them, or of `otherwise` bytes where the memory's elements
// are unknown.
void look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, unsigned otherwise = 4);

// Records an access. The address of a store comes with the fingerprint.
inline void record(uint64_t address, Site site)
{
    cursor.next[0] = address;
    cursor.next[warp_size] = site;
    cursor.next += words_per_row;
}

inline uint64_t with_fingerprint(uintptr_t address, unsigned bytes)
{
    return address | uint64_t(fingerprint(address, bytes)) << before_shift;
}

}  // namespace sim
