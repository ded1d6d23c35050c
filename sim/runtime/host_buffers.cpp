// How many bytes the program's own memory has behind an address, for copies that are too long.
//
// A variable of the program has a symbol. A local variable ends, at the latest, with the frame of its function. Memory
// from malloc lies in a chain of pieces, each with its size in front of it, that begins where the heap does (glibc). Only
// a chain that leads to the address without a gap is believed. The last piece is kept, so that not
// every copy follows a chain. Sizes of pieces are rounded up to 16 bytes. What lies elsewhere has no known end.

#include <malloc.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace sim {
namespace {

struct Piece {
    uintptr_t begin = 0, end = 0;
};

// The frame that holds the address, without where it returns to.
Piece frame_of(uintptr_t address)
{
    struct Search {
        uintptr_t address, before = 0;
        Piece found;
    } search{address, 0, {}};
    _Unwind_Backtrace([](_Unwind_Context* context, void* data) {
        Search& s = *static_cast<Search*>(data);
        const uintptr_t stack = _Unwind_GetCFA(context);
        if (s.before && s.before <= s.address && s.address < stack) s.found = {s.before, stack - sizeof(void*)};
        s.before = stack;
        return s.found.end ? _URC_END_OF_STACK : _URC_NO_REASON;
    }, &search);
    return search.found;
}

#ifdef __GLIBC__
// The program may use its memory from `begin` on, and up to where the size of the next piece stands.
Piece piece_of(uintptr_t address)
{
    static const uintptr_t first = [] {
        uintptr_t begin = 0;
        char line[512];
        FILE* maps = fopen("/proc/self/maps", "r");
        while (maps && !begin && fgets(line, sizeof line, maps))
            if (std::strstr(line, "[heap]")) begin = std::strtoull(line, nullptr, 16);
        if (maps) fclose(maps);
        return begin;
    }();
    const uintptr_t end = uintptr_t(sbrk(0));
    if (!first || address < first || address >= end) return {};
    for (uintptr_t at = first; at + 16 <= end;) {
        const size_t size = reinterpret_cast<const size_t*>(at)[1] & ~size_t(7);
        if (size < 32 || size % 16 || size > end - at) return {};
        if (address < at + size) return {at + 16, at + size + 8 < end ? at + size + 8 : end};
        at += size;
    }
    return {};
}
#else
Piece piece_of(uintptr_t) { return {}; }
#endif

}  // namespace

uint64_t host_room(uintptr_t address, uint64_t wanted)
{
    static Piece last;  // of the heap. Pieces come and go, so it is believed only for what fits.
    if (const Symbol* variable = object_at(address)) return variable->address + variable->bytes - address;
    const auto room = [&](const Piece& p) { return address - p.begin < p.end - p.begin ? p.end - address : 0; };
    if (const uint64_t left = room(last); left >= wanted) return left;
    if (const uint64_t left = room(frame_of(address))) return left;
    last = piece_of(address);
    const uint64_t left = room(last);
    return left ? left : ~uint64_t(0);
}

}  // namespace sim
