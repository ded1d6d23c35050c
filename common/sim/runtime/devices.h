// What programs ask about a machine, and the counts need not know.

#pragma once

#include <cstdint>

#include "../../machine.h"

namespace sim {

// Limits of a compute capability: CUDA C Programming Guide, "Technical Specifications per Compute Capability".
struct Limits {
    unsigned threads_per_block;
    unsigned block[3], grid[3];
    uint64_t shared_per_block, shared_per_block_optin, reserved_shared_per_block;
    int registers_per_block;
};
Limits limits_of(const harness::Machine& machine);

}  // namespace sim
