// Allocations in the order of their addresses, so that the one that holds an address is found by bisection.

#include "memory.h"

#include <algorithm>

namespace sim {
namespace {

bool begins_after(uintptr_t address, const std::unique_ptr<Allocation>& a) { return address < a->begin; }

}  // namespace

Allocation& Memory::add(const Allocation& allocation)
{
    const auto at = std::upper_bound(all_.begin(), all_.end(), allocation.begin, begins_after);
    return **all_.insert(at, std::make_unique<Allocation>(allocation));
}

void Memory::remove(uintptr_t begin)
{
    all_.erase(std::remove_if(all_.begin(), all_.end(), [&](const auto& a) { return a->begin == begin; }), all_.end());
}

void Memory::clear() { all_.clear(); }

Allocation* Memory::find(uintptr_t address)
{
    const auto after = std::upper_bound(all_.begin(), all_.end(), address, begins_after);
    return after == all_.begin() || !(*(after - 1))->holds(address) ? nullptr : (after - 1)->get();
}

Allocation* Memory::nearest(uintptr_t address)
{
    const auto after = std::upper_bound(all_.begin(), all_.end(), address, begins_after);
    Allocation* below = after == all_.begin() ? nullptr : (after - 1)->get();
    Allocation* above = after == all_.end() ? nullptr : after->get();
    if (!below || !above) return below ? below : above;
    return address - (below->begin + below->bytes) <= above->begin - address ? below : above;
}

Memory& memory()
{
    static Memory memory;
    return memory;
}

}  // namespace sim
