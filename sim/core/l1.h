// The L1 of an SM, as one block sees it: which sectors of global memory the block has loaded.
//
// In: the lines that a block's loads touch, with the sectors of each. Out: the sectors that are not there yet and come
// from the L2. Invariant: the table has a line at most once, and only lines of this block. When it holds as many lines
// as the block's share of the L1, it forgets them all. In which order an L1 replaces its lines is not published; for a
// block that touches much more than its share, this comes to the same. Cost: one probe for each line of a request.

#pragma once

#include <cstdint>
#include <vector>

namespace sim {

class L1 {
public:
    void next_block(uint64_t share);  // bytes of the L1 that a block has
    struct Found {
        unsigned missing;  // sectors that are not in the L1
        bool on_its_way;   // some are missing, or came in the same batch of loads
    };
    // `line`: an address divided by 128. `sectors`: bit i is the i-th 32 bytes of the line. `batch`: a number of the
    // loads that threads of the block make at about the same time.
    Found load(uint64_t line, unsigned sectors, uint64_t batch);

private:
    struct Entry {
        uint64_t line, filling, batch;  // batch: of the last miss
        unsigned sectors;
    };
    Entry& find(uint64_t line);
    void grow();

    uint64_t filling_ = 1;  // entries of earlier fillings are empty
    uint64_t held_ = 0, capacity_ = 1;
    std::vector<Entry> entries_ = std::vector<Entry>(64);  // a power of two of them, at most half full
};

}  // namespace sim
