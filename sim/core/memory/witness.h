// Announces what the hooks see to a tool that watches the whole process (tools/completeness.py), so that the tool can
// compare it with the memory instructions that really ran.
//
// With SIM_WITNESS=1 in the environment, every access that the simulator records is announced just before it is made.
// An announcement is a row of stores to a mailbox at a fixed address. A tool that reports the address of each store
// thus reads the announcements in their place among the instructions. Nothing else depends on this file.

#pragma once

#include <cstdint>

namespace sim {

// True if announcements are wanted. Then nothing is `Likely`, so that each access is looked at.
extern const bool witnessed;

// Announces at the beginning of a block the allocations, whose accesses count. Arrays of shared memory are announced
// one by one.
void announce_memory();
void announce_range(uintptr_t begin, uint64_t bytes);

// The mailbox: 64 kB for each 16 bits of an announcement. A store at word w of part p says that these bits are w.
constexpr uintptr_t mailbox = uintptr_t(0x2a) << 32;
constexpr unsigned mailbox_parts = 5;  // what it is, then the address in three parts, then the end
enum Announced : unsigned {
    announced_load,
    announced_store,
    announced_atomic,
    announced_base,
    announced_begin,
    announced_end,
    announced_clear
};

// `what`: a load, a store or an atomic operation.
void announce(Announced what, unsigned bytes, uintptr_t address);

}  // namespace sim
