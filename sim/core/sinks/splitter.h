// From requests to their parts, and on to whoever looks at them. The counter says what a part costs; then each sink
// that the launch asked for gets the part and its cost.

#pragma once

#include <initializer_list>
#include <vector>

#include "../memory/shared_memory.h"
#include "counter.h"
#include "sink.h"

namespace sim {

// Splits requests, and gives the parts to the sinks.
class Splitter {
public:
    Splitter(SharedMemory& shared, Counter& counter) : shared_(shared), counter_(counter) {}
    // A launch begins on this device. `several`: there are others.
    void start(int device, bool several);
    // Parts in these spaces go to the sink from now on.
    void add(Sink& sink, std::initializer_list<Space> spaces);
    const std::vector<Sink*>& sinks() const { return sinks_; }
    // Gives each part of a request to all sinks.
    void take(const Request& request, int warp);

private:
    void give(const PartOfRequest& part)
    {
        const Cost cost = counter_.count(part);
        for (Sink* sink : takers_[part.space]) sink->take(part, cost);
    }
    uint32_t lanes_in_shared(const Request& request);
    void split_by_space(const Request& request, int warp, uint32_t in_shared);
    void take_shared(const Request& request, int warp, const SharedArray& array);
    void take_from_several(const Request& request, int warp, const SharedArray& array);
    void take_global(const Request& request, int warp);
    __attribute__((noinline)) void split_by_device(const Request& request, int warp);

    SharedMemory& shared_;
    Counter& counter_;
    std::vector<Sink*> sinks_, takers_[constant + 1];  // takers_: by space
    int device_ = 0;
    bool several_ = false;
    const Allocation* recent_ = nullptr;  // that a request went to
};

}  // namespace sim
