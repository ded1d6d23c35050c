// Lanes that have read an undefined value in a shuffle: the last ones of a sum over a warp may, because nothing uses
// what they have then. It is a fault if such a lane stores before it loads or exchanges again. A store is taken for a
// store of this value.

#pragma once

#include <cstdint>
#include <vector>

#include "../sinks/faults.h"
#include "../lanes/fibers.h"
#include "../lanes/requests.h"

namespace sim {

class Doubts {
public:
    void clear()
    {
        for (uint32_t& lanes : lanes_) lanes = 0;
    }
    // `fault`: on what the thread has read.
    void add(int thread, const Fault& fault)
    {
        faults_.resize(Fibers::most);
        faults_[size_t(thread)] = fault;
        lanes_[thread / warp_size] |= 1u << thread % warp_size;
    }
    void forget(int thread) { lanes_[thread / warp_size] &= ~(1u << thread % warp_size); }
    bool any(int warp) const { return lanes_[warp] != 0; }
    // The next request of the warp.
    __attribute__((cold)) void look(const Request& request, int warp, Faults& faults)
    {
        for (uint32_t lanes = request.lanes & lanes_[warp]; lanes; lanes &= lanes - 1)
            if (kind_of(request.site) != load)
                faults.add(faults_[size_t(warp * warp_size + __builtin_ctz(lanes))]);
        lanes_[warp] &= ~request.lanes;
    }

private:
    uint32_t lanes_[Fibers::most / warp_size] = {};  // of each warp
    std::vector<Fault> faults_;                  // one for each thread of the block
};

}  // namespace sim
