// Keeps requests of each place for a page that draws them: the first one of each cost.

#pragma once

#include "counter.h"
#include "splitter.h"

namespace sim {

class Drawer : public Sink {
public:
    // The counter has taken a part before the drawer does. `block`: the linear index of the block that runs.
    Drawer(Counter& counter, const uint64_t& block) : counter_(counter), block_(block) {}
    void take(const PartOfRequest& part) override;

    uint64_t earlier_blocks = 0;  // of earlier launches

private:
    Counter& counter_;
    const uint64_t& block_;
};

}  // namespace sim
