// Lanes that have read an undefined value in a shuffle: the last ones of a sum over a warp may, because nothing uses
// what they have then. It is a finding if such a lane stores before it loads or exchanges again. A store is taken for a
// store of this value.

#pragma once

#include <cstdint>
#include <vector>

#include "../findings/findings.h"
#include "../lanes/fibers.h"
#include "../lanes/requests.h"

namespace sim {

class Doubts {
public:
    void clear()
    {
        for (uint32_t& lanes : lanes_) lanes = 0;
    }
    // `finding`: on what the thread has read.
    void add(int thread, const Finding& finding)
    {
        findings_.resize(Fibers::most);
        findings_[size_t(thread)] = finding;
        lanes_[thread / warp_size] |= 1u << thread % warp_size;
    }
    void forget(int thread) { lanes_[thread / warp_size] &= ~(1u << thread % warp_size); }
    bool any(int warp) const { return lanes_[warp] != 0; }
    // The next request of the warp.
    __attribute__((cold)) void look(const Request& request, int warp, Findings& findings)
    {
        for (uint32_t lanes = request.lanes & lanes_[warp]; lanes; lanes &= lanes - 1)
            if (kind_of(request.site) != load)
                findings.add(findings_[size_t(warp * warp_size + __builtin_ctz(lanes))]);
        lanes_[warp] &= ~request.lanes;
    }

private:
    uint32_t lanes_[Fibers::most / warp_size] = {};  // of each warp
    std::vector<Finding> findings_;                  // one for each thread of the block
};

}  // namespace sim
