// Arrays and structures of threads: where they lie on a stack, and where they would lie in local memory, which has the
// words of the lanes of a warp side by side.
//
// The text announces each of them behind its declaration. It is forgotten when another one takes its place, or when a
// function announces one that lies above it, because the stack of the first has been left. All else on a stack, such as
// an array whose declaration was jumped over, is one object. It has the same place on the stacks of all threads.

#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../lanes/access.h"
#include "../lanes/fibers.h"
#include "../memory/memory.h"
#include "../sinks/counter.h"

namespace sim {

class Locals {
public:
    // `known`: the arrays that were announced so far, by number. The counter has them.
    explicit Locals(std::vector<LocalArray>& known) : known_(known) { known_.push_back({}); }

    // `stack`: where the stack of the function begins that has the array.
    void begin(int thread, Range range, uintptr_t stack, const LocalArray& array)
    {
        const auto [number, is_new] = number_.try_emplace(array.place, known_.size());
        if (is_new) known_.push_back(array);
        std::vector<Local>& all = of_thread_[thread];
        const auto gone = [&](const Local& old) {
            const uintptr_t begin = old.range.begin;
            return begin < stack || (begin < range.begin + range.bytes && range.begin < begin + old.range.bytes);
        };
        all.erase(std::remove_if(all.begin(), all.end(), gone), all.end());
        all.push_back({range, std::min(number->second, most_local_arrays - 1) << above_local_address});
        threads_ = std::max(threads_, thread + 1);
    }
    void clear()
    {
        while (threads_ > 0) of_thread_[--threads_].clear();
    }
    // The address in local memory; 0: no object that was announced has all of the bytes.
    uint64_t find(int thread, uintptr_t address, unsigned bytes) const
    {
        for (const auto& [range, number] : of_thread_[thread])
            if (range.holds(address) && range.holds(address + bytes - 1))
                return local_address(thread, number, address - range.begin);
        return 0;
    }
    // The address in local memory of all else. `depth`: the distance to the beginning of the stack.
    static uint64_t elsewhere(int thread, uint64_t depth) { return local_address(thread, 0, depth); }

private:
    struct Local {
        Range range;
        uint64_t number;  // as it stands in an address
    };
    static uint64_t local_address(int thread, uint64_t number, uint64_t at)
    {
        return local_addresses + number + at / 4 * 4 * warp_size + uint64_t(thread) % warp_size * 4 + at % 4;
    }

    std::vector<Local> of_thread_[Fibers::most];
    int threads_ = 0;  // that have any: the first so many
    std::vector<LocalArray>& known_;
    std::unordered_map<uint64_t, uint64_t> number_;  // by place
};

}  // namespace sim
