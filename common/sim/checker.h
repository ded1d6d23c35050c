// Checks what the requests of a block do to memory: two accesses of different threads to one place,
// at least one of them a store, must have something between them that orders them; and what is loaded
// must have been stored.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "findings.h"
#include "requests.h"
#include "shared_memory.h"

namespace sim {

// Lanes of a warp that met at __syncwarp(), by pairs. Times are counted by the block's checker.
class WarpMeetings {
public:
    void meet(int warp, uint32_t lanes, uint32_t now);
    // Whether both have met after `time`.
    bool ordered(int thread, int other, uint32_t time) const;

private:
    struct Pairs {
        uint32_t met[warp_size][warp_size] = {};
    };
    std::vector<std::unique_ptr<Pairs>> warps_;
};

// Which place comes first in the program names a hazard, not which comes first in this run: the order
// of places in one warp's requests since the barrier.
class Sequence {
public:
    void clear() { sites_.clear(); }
    void add(Site site) { sites_.push_back(site); }
    // Whether `other` is in front of the request for `site` that is the `order`-th.
    bool precedes(Site other, Site site, int order) const;

private:
    std::vector<Site> sites_;
};

// Watches the shared memory of one host thread's blocks.
class SharedChecker {
public:
    void start_block(uint64_t block, bool lockstep);  // lockstep: the lanes of a warp need nothing to order them
    void barrier() { ++epoch_; }
    void warp_syncs(int warp, uint32_t lanes) { meetings_.meet(warp, lanes, ++time_); }
    // One request of a warp to an array. Lane 0 is thread `first_thread`. False where a lane is outside the
    // array: then nothing is known of the request.
    bool check(const Request& request, int first_thread, const SharedArray& array, Findings& findings);
    // The requests of the warp are all known: hazards among them can be named.
    void warp_done(const Sequence& sequence, Findings& findings);

private:
    // Of one cell. Epochs count barriers and blocks, and tell old entries from new ones.
    struct Cell {
        uint32_t write_epoch = 0, read_epoch = 0;
        uint32_t write_time = 0, read_time = 0;
        uint32_t write_site = 0, read_site = 0;
        uint16_t writer = 0, reader = 0, other_reader = 0;  // other_reader: equal to reader if there is no other
        bool atomically = false;                            // written
    };
    // A hazard between this request and an earlier one of another thread.
    struct Hazard {
        Site site, other_site;
        int thread, other_thread, order;
        const std::string* memory;
        int64_t offset;
        uint64_t count;
    };
    template <unsigned fixed>
    bool check_cells(const Request& request, int first_thread, const SharedArray& array, Findings& findings);
    void look(const Cell& cell, int64_t offset, Site site, int thread, int order, const std::string& memory, Findings& findings);
    bool ordered(int thread, int other, uint32_t time) const;
    void make_fine();

    std::vector<Cell> cells_;
    unsigned shift_ = 2;  // a cell is 4 bytes, or 1 once smaller elements have been accessed
    uint32_t epoch_ = 1, block_epoch_ = 1, time_ = 0;
    uint64_t block_ = 0;
    bool lockstep_ = false;
    WarpMeetings meetings_;
    std::vector<Hazard> hazards_;
};

}  // namespace sim
