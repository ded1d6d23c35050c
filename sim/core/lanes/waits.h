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

// Threads of a block that do not meet where they should.
struct Divergence {
    enum Kind {
        barriers_differ,    // some wait here, most of the others there, and so many `elsewhere`
        barrier_missed,     // the thread `here` has left the kernel, and this machine's barrier waits for it
        barrier_passed_by,  // some wait at a barrier, and others of their warps have passed it by
        lanes_missed,       // a lane waits for others that never come; `there`: the first of them, and where it waits
        mask_differs        // the mask of a lane names another one that has another mask, or lacks its own bit
    } kind;
    Waiting here, there{};
    uint32_t mask = 0, other = 0;  // of lanes: the mask; the lanes that came, or the other mask
    int elsewhere = 0;
};

enum Scope : unsigned { block_scope, device_scope };  // of a fence, or of an atomic operation

}  // namespace sim
