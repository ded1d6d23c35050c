// Work that may run at the same time as a launch: other launches, and copies.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

// Another launch, or a copy, that may run at the same time as the one that runs.
struct Beside {
    uint64_t first, blocks;  // counted over all launches: its blocks are first + 1 to first + blocks
    const char* name;        // of the kernel, or of the function that copies
    const void* place;       // where the program calls it
    bool launch;
    int device;              // -1: there is only one device
    std::string text() const;  // "put, launched at program.cu:31 on device 1"
    std::string text(bool writes) const;  // "put, launched at program.cu:31 on device 1 writes it"
};
// The verb of a sentence for a reader: " writes it". A function that allocates or frees in the order of a stream has
// its own.
const char* verb(const char* function, bool writes);
// The launch or copy that a block belongs to; null: none. `all` is in the order of blocks.
const Beside* beside_of(uint64_t block, const std::vector<Beside>& all);

}  // namespace sim
