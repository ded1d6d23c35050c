// The caches between a block and the DRAM: how often its loads find a sector in the L1, and which memory they and its
// stores touch behind it. The model of a machine reads these counts (common/base/model.h).

#pragma once

#include <cstdint>

#include "../../../common/base/machine.h"
#include "l1.h"
#include "sink.h"
#include "windows.h"

namespace sim {

class Caches : public Sink {
public:
    explicit Caches(WindowShare& window) : touched_(window.touched) {}
    void start_block(uint64_t l1_share, unsigned warps);  // l1_share: bytes of the L1 that the block has
    void barrier()                                        // of the block
    {
        ++phase_;
        phase_begin_ = phase_end_;
    }
    void warp_begins();  // the next requests are those of a warp after a barrier, or since the block began
    void take(const PartOfRequest& part, const Cost& cost) override;

    harness::RooflineCounts counts;  // since they were last taken

private:
    void note_batch(const Request& request);
    void load(const Transactions& transactions, uint64_t shift);
    void store(const Transactions& transactions, uint64_t shift, uint64_t asked);

    Touched& touched_;
    L1 l1_;
    bool in_flight_ = false;  // the warp's last request was a load, so the batch of loads goes on
    bool missed_ = false;     // a load of this batch waits for the memory
    uint64_t phase_ = 0, batch_ = 0;  // phase_: of the block; batch_: of the warp in this phase
    uint64_t phase_begin_ = 0, phase_end_ = 0, time_ = 0;  // in requests of a warp since the block began
};

}  // namespace sim
