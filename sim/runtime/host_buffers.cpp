// How many bytes the program's own memory has behind an address, for copies that are too long.
//
// A variable has a symbol. A local one ends with its function's frame, at the latest. Memory from malloc lies in a
// chain of pieces from the heap's beginning on, each with its size in front (glibc). A chain is believed if it leads to
// the address without a gap. The last piece is kept, so that few copies follow a chain. Sizes are rounded up to 16.

#include <unistd.h>
#include <unwind.h>

#include <cstdlib>
#include <fstream>

#include "../elf/symbols.h"
#include "runtime.h"

namespace sim {
namespace {

struct Extent {
    uintptr_t begin = 0, end = 0;
    uint64_t room(uintptr_t address) const { return address - begin < end - begin ? end - address : 0; }
};

// The frame that holds the address, without its return address.
Extent frame_of(uintptr_t address)
{
    struct Search {
        uintptr_t address, begin;
        Extent found;
    } search{address, ~uintptr_t(0), {}};
    _Unwind_Backtrace([](_Unwind_Context* context, void* data) {
        Search& s = *static_cast<Search*>(data);
        const uintptr_t end = _Unwind_GetCFA(context);
        if (s.begin <= s.address && s.address < end) s.found = {s.begin, end - sizeof(void*)};
        s.begin = end;
        return s.found.end ? _URC_END_OF_STACK : _URC_NO_REASON;
    }, &search);
    return search.found;
}

Extent extent_of(uintptr_t address)
{
#ifdef __GLIBC__
    static const uintptr_t heap = [] {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);)
            if (line.find("[heap]") != line.npos) return uintptr_t(std::strtoull(line.c_str(), nullptr, 16));
        return uintptr_t(0);
    }();
    const uintptr_t end = uintptr_t(sbrk(0));
    if (!heap || address < heap) return {};
    for (uintptr_t at = heap; at + 16 <= end;) {
        const size_t size = reinterpret_cast<const size_t*>(at)[1] & ~size_t(7);
        if (size < 32 || size % 16 || size > end - at) return {};
        at += size;
        if (address < at) return {at - size + 16, at + 8};
    }
#endif
    return {};
}

}  // namespace

uint64_t host_room(uintptr_t address, uint64_t wanted)
{
    static Extent last;  // It may have changed since, so it is believed only if all that is wanted fits.
    if (const Symbol* variable = object_at(address)) return variable->address + variable->bytes - address;
    if (last.room(address) >= wanted) return wanted;
    if (const uint64_t room = frame_of(address).room(address)) return room;
    last = extent_of(address);
    return last.room(address) ? last.room(address) : ~uint64_t(0);
}

}  // namespace sim
