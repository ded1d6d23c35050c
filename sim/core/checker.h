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
    void start_launch();
    // One request of a warp, all of whose lanes access this array. Lane 0 is thread `first_thread`.
    void check(const Request& request, int first_thread, const SharedArray& array, Findings& findings);
    // Something else than barriers is about to order this block's accesses. Their times are still those of before.
    void note_event(Findings& findings)
    {
        if (repeats_) catch_up(findings);
    }
    void warp_done(const Sequence& sequence, Findings& findings) { hazards_.warp_done(sequence, findings); }
    void block_done(Findings& findings);

private:
    // A request as it was made.
    struct Made {
        Site site;
        uint32_t lanes, phase;  // phase: barriers of the block before it
        int first_thread;
        bool even;
        const SharedArray* array;
        uint64_t address[warp_size];
    };

    uint32_t phase() const { return order_.epoch() - order_.block_epoch(); }
    bool is_again(const Made& made, const Request& request, int first_thread) const;
    void check_anew(const Request& request, int first_thread, const SharedArray& array, Findings& findings);
    void catch_up(Findings& findings);
    void start_block();
    void check_in(uint32_t epoch, const Request& request, int first_thread, const SharedArray& array,
                  Findings& findings);
    template <unsigned fixed>
    void check_cells(uint32_t epoch, const Request& request, int first_thread, const SharedArray& array,
                     Findings& findings);
    void look(uint32_t epoch, const LastAccesses& cell, const Request& request, int lane, int thread,
              const SharedArray& array, uint64_t offset, Findings& findings);
    void make_fine();

    const Order& order_;
    std::vector<LastAccesses> cells_;
    unsigned shift_ = 2;  // a cell is 4 bytes, or 1 once smaller elements have been accessed
    Hazards hazards_;

    static constexpr size_t longest = 1024;
    static constexpr int patience = 8;
    std::vector<Made> model_;  // the requests of a block that had nothing suspicious, or of this block so far
    size_t next_ = 0;
    bool repeats_ = false;  // so far, this block has made the first `next_` requests of the model, and no others
    bool models_ = false;   // this block, which does not, may become the model
    int unlike_ = 0;        // blocks in a row that did not repeat the one before
};

}  // namespace sim
