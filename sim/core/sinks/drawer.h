// Keeps requests of each place for a page that draws them: the first one of each cost.

#pragma once

#include <cstdint>

#include "sink.h"

namespace sim {

class Drawer : public Sink {
public:
    void start_block(uint64_t block) { block_ = block; }  // numbered over all launches
    void take(const PartOfRequest& part, const Cost& cost) override;

private:
    uint64_t block_ = 0;
};

}  // namespace sim
