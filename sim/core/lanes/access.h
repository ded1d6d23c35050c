// An access of one thread, in two words. A hook writes it where the running lane's next one goes.
//
// The word for the address has room above the address, because no address has more than 48 bits. A store keeps a
// fingerprint there of what it overwrites, and an atomic operation what the source says about it. The other word, the
// site, has the place, the kind, the size, the strength and the turn of the thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kinds.h"

namespace sim {

constexpr int warp_size = 32;

// The lower half of the return address that stands for the access's place in the kernel, its kind, its size, how strong
// it is, and the turn that the thread was in (turns.h).
using Site = uint64_t;

constexpr int turn_bit = 38;
constexpr uint64_t strong = uint64_t(1) << 37;
constexpr Site site_of(uint64_t return_address, Kind kind, unsigned log2_bytes, Strength strength = as_data)
{
    const uint64_t kinds = strength == as_data || kind == atomic ? uint64_t(kind) << 32
                           : strength == as_volatile           ? strong | uint64_t(kind) << 32
                                                               : strong | uint64_t(2 | kind) << 32;
    return uint32_t(return_address) | kinds | uint64_t(log2_bytes) << 34;
}
// Marks an access to local memory. It belongs to another request than accesses of lanes whose pointers lead elsewhere.
constexpr Site in_local_memory(Site site) { return site ^ uint64_t(1) << 63; }
constexpr Site without_turn(Site site) { return site & ((uint64_t(1) << turn_bit) - 1); }
constexpr Kind kind_of(Site site) { return Kind(site >> 32 & (site & strong ? 1 : 3)); }
constexpr Strength strength_of(Site site) { return site >> 33 & 1 ? as_atomic : site & strong ? as_volatile : as_data; }
constexpr unsigned bytes_of(Site site) { return 1u << (site >> 34 & 7); }
// An event of the thread that is recorded among its accesses, with its time as the address (order.h).
constexpr Site event_of(uint64_t return_address) { return uint32_t(return_address) | uint64_t(3) << 32; }
constexpr bool is_event(Site site) { return (site >> 32 & 3) == 3 && !(site & strong); }
// The whole return address of a site. It is known, because the kernel lies in the same 2 GB as this program's other
// functions.
uint64_t return_address(Site site);

constexpr int above_address = 48;
constexpr uint64_t address_bits = (uint64_t(1) << above_address) - 1;

// The addresses that requests have for local memory: words of the lanes side by side, as on a GPU. Above them stands
// the number of the array (block/locals.h).
constexpr uint64_t local_addresses = uint64_t(1) << 47;
constexpr int above_local_address = 31;
constexpr uint64_t most_local_arrays = uint64_t(1) << (47 - above_local_address);

// Flags of an atomic operation. joined: one lane makes it for all, as nvcc has it. unread: nothing reads its result, so
// that the thread does not know who was there before. The site of a request has them where an access has its turn.
enum AtomicFlags : unsigned { no_flags = 0, joined = 1, unread = 2 };
constexpr Site with_flags(Site site, uint64_t flags) { return site | flags << turn_bit; }
constexpr bool is_joined(Site of_request) { return of_request >> turn_bit & joined; }
constexpr bool is_unread(Site of_request) { return of_request >> turn_bit & unread; }

struct Access {
    uint64_t address;  // with what stands above it
    Site site;

    unsigned bytes() const { return bytes_of(site); }
    Kind kind() const { return kind_of(site); }
    uint64_t place() const { return return_address(site); }
};

// A number of 16 bits that stands for what lies at an address. Different contents share one in 65536 cases.
inline uint16_t fingerprint(uintptr_t address, unsigned bytes)
{
    uint64_t words[2] = {};
    std::memcpy(words, reinterpret_cast<const void*>(address), bytes);
    return uint16_t((words[0] ^ words[1] << 1) * 0x9e3779b97f4a7c15u >> 48);
}

inline uint64_t with_fingerprint(uintptr_t address, unsigned bytes)
{
    return address | uint64_t(fingerprint(address, bytes)) << above_address;
}

// The n-th access of each lane of a warp since the last time that requests were formed.
struct Row {
    uint64_t address[warp_size];
    Site site[warp_size];
};
constexpr ptrdiff_t words_per_row = sizeof(Row) / sizeof(uint64_t);

// Where the running lane writes its next access: the address at `next`, the site warp_size words on, then words_per_row
// words further. Up to `end` there is room.
struct Cursor {
    uint64_t* next;
    uint64_t* end;

    bool full() const { return next == end; }
    void put(const Access& access)
    {
        next[0] = access.address;
        next[warp_size] = access.site;
        next += words_per_row;
    }
};
extern __thread Cursor cursor;

}  // namespace sim
