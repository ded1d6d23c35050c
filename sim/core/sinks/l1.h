// The L1 of an SM, as one block sees it: which sectors of global memory the block has loaded.
//
// In: the lines that a block's loads touch, with the sectors of each. Out: the sectors that are not there and come from
// the L2. The simulator runs one warp after another, and an SM runs them side by side. So the L1 goes by the time of a
// load: how many requests its warp has made before, since the block began. A line stays for as many requests as it
// takes all warps to fill the block's share of the L1, at the rate at which they have missed so far.
//
// Invariant: the table has a line at most once, and only lines of this block. In which order an L1 replaces its lines
// is not published. Cost: one probe for each line of a request.

#pragma once

#include <cstdint>
#include <vector>

namespace sim {

class L1 {
public:
    void next_block(uint64_t share, unsigned warps);  // bytes of the L1 that a block has; warps of the block
    struct Found {
        unsigned missing;  // sectors that are not in the L1
        bool on_its_way;   // some are missing, or came in the same batch of loads
    };
    // A warp of the block makes another request to global memory.
    void request() { ++requests_; }
    // `line`: an address divided by 128. `sectors`: bit i is the i-th 32 bytes of the line. `batch`: a number of the
    // loads that threads of the block make at about the same time. `time`: requests that the warp has made so far.
    Found load(uint64_t line, unsigned sectors, uint64_t time, uint64_t batch);

private:
    struct Entry {
        uint64_t line, block, batch;  // block: a number; batch: of the last miss
        uint64_t time;                // of the last load
        unsigned sectors;
    };
    Entry& find(uint64_t line);
    void grow();
    bool gone(uint64_t passed) const;  // true if a line that was loaded `passed` requests ago has left the L1

    uint64_t block_ = 1;  // entries of earlier blocks are empty
    uint64_t held_ = 0, capacity_ = 1, warps_ = 1;  // capacity_: lines
    uint64_t requests_ = 0, missed_ = 0;            // requests_: of all warps of the block; missed_: lines
    std::vector<Entry> entries_ = std::vector<Entry>(64);  // a power of two of them, at most half full
};

}  // namespace sim
