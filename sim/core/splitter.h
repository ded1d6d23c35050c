// From requests to their parts, and on to whoever looks at them: the counter, the race checkers, a trace. Each is a
// sink, and gets each part of each request of a host thread's blocks.

#pragma once

#include <functional>
#include <vector>

#include "memory.h"
#include "requests.h"
#include "shared_memory.h"

namespace sim {

class Sequence;

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

// The place of the barrier that a thread of the block waits at, or 0.
using BarrierOf = std::function<uint64_t(int thread)>;

class Sink {
public:
    virtual void take(const PartOfRequest& part) = 0;
    // The warp has stopped, and all of its requests so far were taken.
    virtual void warp_done(const Sequence&, const BarrierOf&) {}
    virtual void block_done() {}

protected:
    ~Sink() = default;
};

// Splits requests, and gives the parts to the sinks.
class Splitter {
public:
    explicit Splitter(SharedMemory& shared) : shared_(shared) {}
    // A launch begins on this device. `several`: there are others.
    void start(int device, bool several);
    // Gives each part of a request to all sinks.
    void take(const Request& request, int warp);

    std::vector<Sink*> sinks;

private:
    void give(const PartOfRequest& part)
    {
        for (Sink* sink : sinks) sink->take(part);
    }
    uint32_t lanes_in_shared(const Request& request);
    void split_by_space(const Request& request, int warp, uint32_t in_shared);
    void take_shared(const Request& request, int warp, const SharedArray& array);
    void take_from_several(const Request& request, int warp, const SharedArray& array);
    void take_global(const Request& request, int warp);
    __attribute__((noinline)) void split_by_device(const Request& request, int warp);

    SharedMemory& shared_;
    int device_ = 0;
    bool several_ = false;
    const Allocation* recent_ = nullptr;  // that a request went to
};

}  // namespace sim
