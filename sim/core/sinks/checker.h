// Checks the accesses of a block to shared memory. Two accesses of different threads to one place, at least one of them
// a store, must be ordered by something between them. Every byte that is loaded must have been stored before.

#pragma once

#include <cstdint>

#include "faults.h"
#include "../lanes/requests.h"
#include "../memory/shared_memory.h"
#include "hazards.h"
#include "order.h"
#include "sink.h"

namespace sim {

// Watches the shared memory of one host thread's blocks.
class SharedChecker : public Sink {
public:
    SharedChecker(const Order& order, Sites& sites, SharedMemory& arrays, Faults& faults)
        : order_(order), sites_(sites), arrays_(arrays), hazards_(order, sites, false, faults)
    {
    }
    void take(const PartOfRequest& part, const Cost& cost) override;
    void warp_done(const Sequence& sequence, const Threads& threads) override
    {
        hazards_.warp_done(sequence, threads);
    }
    void block_done() override { hazards_.block_done(); }

private:
    void check(const Request& request, int warp, const SharedArray& array);
    template <Kind kind>
    void check_cells(const Request& request, Mark first, const SharedArray& array);
    __attribute__((noinline)) void look(Mark& cell, const Request& request, Mark mark, const SharedArray& array,
                                        uint64_t part);

    const Order& order_;
    Sites& sites_;
    SharedMemory& arrays_;
    MemoryCells cells_;
    unsigned shift_ = 2;  // a cell is 4 bytes, or 1 once smaller elements have been accessed
    Hazards hazards_;
};

}  // namespace sim
