// A sink takes the parts of all requests of a host thread's blocks: a race checker, a trace, the L1. It knows no other
// sink. What a part costs comes with it.

#pragma once

#include "../lanes/requests.h"
#include "../memory/memory.h"

namespace sim {

class Sequence;
class Threads;
struct SiteCounts;
struct Transactions;

// The lanes of a request that access one space, and there one device. Hardware makes a request of each part.
struct PartOfRequest {
    const Request& request;
    Space space;
    int warp;  // of the block
    const Array* array;  // that the first lane accesses; null: local memory
    bool only_array;  // all lanes access this one
    // The addresses on the GPU, or in the block's shared memory: those of the request plus `shift`, or, where the lanes
    // access several arrays of shared memory, these.
    uint64_t shift = 0;
    const uint64_t* shifted = nullptr;
};

// The cost of a part.
struct Cost {
    int units;                                   // transactions, lines, sectors, words or wavefronts
    SiteCounts* site;                            // the counts of its place and space
    const Transactions* transactions = nullptr;  // of memory of this device or of a peer
    uint64_t asked = 0;                          // bytes that the lanes ask for there
};

class Sink {
public:
    virtual void take(const PartOfRequest& part, const Cost& cost) = 0;
    // The warp has stopped, and all of its requests so far were taken.
    virtual void warp_done(const Sequence&, const Threads&) {}
    virtual void block_done() {}

protected:
    ~Sink() = default;
};

}  // namespace sim
