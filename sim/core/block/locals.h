// Arrays of a thread's own that lie in local memory, and where: the words of the lanes of a warp side by side.

#pragma once

#include <cstdint>
#include <vector>

#include "../lanes/access.h"
#include "../lanes/fibers.h"
#include "../memory/memory.h"

namespace sim {

class Locals {
public:
    void begin(int thread, Range array)
    {
        arrays_[thread].push_back(array);
        any_ = true;
    }
    void end(int thread)
    {
        if (!arrays_[thread].empty()) arrays_[thread].pop_back();
    }
    void clear()
    {
        if (!any_) return;
        for (auto& arrays : arrays_) arrays.clear();
        any_ = false;
    }
    // The address in local memory; 0 if the address lies in none of the thread's arrays.
    uint64_t find(int thread, uintptr_t address) const
    {
        for (const Range& array : arrays_[thread]) {
            if (!array.holds(address)) continue;
            const uint64_t at = address - array.begin, lane = uint64_t(thread) % warp_size;
            return local_addresses + at / 4 * 4 * warp_size + lane * 4 + at % 4;
        }
        return 0;
    }

private:
    std::vector<Range> arrays_[Fibers::most];  // of each thread
    bool any_ = false;
};

}  // namespace sim
