// For what a thread waits: lanes of its warp, or arrivals at a barrier in memory.

#pragma once

#include <cstdint>

namespace sim {

// The values that lanes of a warp have handed over.
struct Exchange {
    uint32_t lanes;      // bit l set: lane l took part
    uint64_t value[32];  // of those lanes
};
enum class Operation : uint8_t { shuffle, vote, match, reduce };  // lanes meet in the same one

// A barrier in memory.
struct Arrivals {
    const void* barrier;
    unsigned expected, missing;
};

// Threads that wait at one place.
struct Waiting {
    uint64_t place;
    int first;  // of these threads
    int count;
};

enum Scope : unsigned { block_scope, device_scope };  // of a fence, or of an atomic operation

}  // namespace sim
