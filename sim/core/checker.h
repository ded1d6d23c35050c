// Checks the accesses of a block to shared memory. Two accesses of different threads to one place, at least one of them
// a store, must be ordered by something between them. Every byte that is loaded must have been stored before.

#pragma once

#include <cstdint>

#include "findings.h"
#include "hazards.h"
#include "order.h"
#include "requests.h"
#include "shared_memory.h"

namespace sim {

// Watches the shared memory of one host thread's blocks.
class SharedChecker {
public:
    SharedChecker(const Order& order, const Sites& sites) : order_(order), hazards_(order, sites, false) {}
    // One request of a warp, all of whose lanes access this array. Lane 0 is thread `first_thread`; `site`: the number
    // of the request's site.
    void check(const Request& request, uint32_t site, int first_thread, const SharedArray& array, Findings& findings);
    template <typename BarrierOf>
    void warp_done(const Sequence& sequence, BarrierOf barrier_of, Findings& findings)
    {
        hazards_.warp_done(sequence, barrier_of, findings);
    }
    void block_done(Findings& findings) { hazards_.block_done(findings); }

private:
    template <Kind kind>
    void check_cells(const Request& request, Mark first, const SharedArray& array, Findings& findings);
    __attribute__((noinline)) void look(Mark& cell, const Request& request, Mark mark, const SharedArray& array,
                                        uint64_t part, Findings& findings);

    const Order& order_;
    Record record_;
    unsigned shift_ = 2;  // a cell is 4 bytes, or 1 once smaller elements have been accessed
    Hazards hazards_;
};

}  // namespace sim
