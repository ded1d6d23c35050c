#pragma once

#include <vector>

#include "../lanes/access.h"

namespace sim {

// The order of places in one warp's requests since the barrier. A hazard is named by the place that comes first in the
// program, not by the one that comes first in this run.
class Sequence {
public:
    void clear() { sites_.clear(); }
    void add(Site site) { sites_.push_back(site); }
    // True if `other` is in front of the request for `site` that is the `order`-th.
    bool precedes(Site other, Site site, int order) const;

private:
    std::vector<Site> sites_;
};

}  // namespace sim
