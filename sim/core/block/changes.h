// A hash of what a block has changed in memory, by which a block that hangs is found.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "../../../common/base/hash.h"
#include "../lanes/requests.h"

namespace sim {

class Changes {
public:
    void clear() { values_.clear(); }
    uint64_t take() { return std::exchange(changes_, 0); }  // since it was last taken; 0: nothing has changed

    // Adds the values that are new in their place.
    __attribute__((cold)) void note(const Request& request)
    {
        if (kind_of(request.site) != store && kind_of(request.site) != atomic) return;
        for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) {
            const uint64_t address = request.address[__builtin_ctz(lanes)];
            if (address >= local_addresses) return;  // the hash of the stack has it already
            const uint64_t value =
                harness::hash_of(address, reinterpret_cast<const void*>(address), bytes_of(request.site));
            if (std::exchange(values_[address], value) != value)
                changes_ = harness::hash_of(changes_, &value, sizeof value);
        }
    }

private:
    uint64_t changes_ = 0;
    std::unordered_map<uint64_t, uint64_t> values_;  // hashes of what threads that run long stored, by address
};

}  // namespace sim
