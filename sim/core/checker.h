// Checks what the requests of a block do to shared memory: two accesses of different threads to one place,
// at least one of them a store, must have something between them that orders them; and what is loaded
// must have been stored.

#pragma once

#include <cstdint>
#include <vector>

#include "findings.h"
#include "hazards.h"
#include "order.h"
#include "requests.h"
#include "shared_memory.h"

namespace sim {

// Watches the shared memory of one host thread's blocks.
class SharedChecker {
public:
    explicit SharedChecker(const Order& order) : order_(order), hazards_(order, false) {}
    // One request of a warp, all of whose lanes access this array. Lane 0 is thread `first_thread`.
    void check(const Request& request, int first_thread, const SharedArray& array, Findings& findings);
    void warp_done(const Sequence& sequence, Findings& findings) { hazards_.warp_done(sequence, findings); }
    void block_done(Findings& findings) { hazards_.block_done(findings); }

private:
    template <unsigned fixed>
    void check_cells(const Request& request, int first_thread, const SharedArray& array, Findings& findings);
    void look(const LastAccesses& cell, const Request& request, int lane, int thread, const SharedArray& array,
              uint64_t offset, Findings& findings);
    void make_fine();

    const Order& order_;
    std::vector<LastAccesses> cells_;
    unsigned shift_ = 2;  // a cell is 4 bytes, or 1 once smaller elements have been accessed
    Hazards hazards_;
};

}  // namespace sim
