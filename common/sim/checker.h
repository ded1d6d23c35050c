// What a kernel must not do: what compute-sanitizer's memcheck, racecheck, initcheck and
// synccheck look for, at the line where it happens.

#pragma once

#include <cstdint>
#include <vector>

#include "trace.h"

namespace sim {

enum class Fault {
    read_after_write,    // a thread reads what another writes, with no barrier between
    write_after_read,    // a thread overwrites what another reads
    write_after_write,
    out_of_bounds_load,
    out_of_bounds_store,
    store_to_input,
    misaligned,
    uninitialized_shared,
    uninitialized_output,
    barrier_not_reached,  // by all threads of the block
};

// What an address lies in, or next to.
enum class Place { odata, idata, shared };

// The first of all that went wrong in the same way at the same place, and how many there were.
struct Finding {
    Fault fault;
    Site first, second;                // second: where the other access of a race is made
    int thread = 0, other_thread = 0;  // linear index in the block, of the first and second access
    uint64_t block = 0;                // linear index in the grid
    Place place = Place::shared;
    int64_t offset = 0;                // of the address from where its matrix or tile begins, in bytes
    uint64_t count = 1;
};

class Findings {
public:
    void add(const Finding& finding);
    std::vector<Finding> list;
};

// Watches the shared memory of one host thread's blocks. Two accesses of different threads to one
// word, at least one of them a store, must have a barrier between them.
class SharedChecker {
public:
    void start_block(uint64_t block, uintptr_t begin, size_t bytes);
    void barrier() { ++epoch_; }
    // One request, the `order`-th of its warp since the barrier; lane 0 is thread `first_thread`.
    void check(const Request& request, int first_thread, int order, Findings& findings);

private:
    // Of one word. Epochs count barriers and blocks, and tell old entries from new ones.
    struct Word {
        uint32_t write_epoch = 0, read_epoch = 0;
        int32_t write_site, read_site;
        uint16_t writer, reader, other_reader;  // other_reader: equal to reader if there is no other
        uint16_t write_order, read_order;
    };
    void look(const Word& word, size_t index, Site site, int thread, int at, Findings& findings);

    std::vector<Word> words_;
    uintptr_t begin_ = 0;
    uint32_t epoch_ = 1, block_epoch_ = 1;
    uint64_t block_ = 0;
};

}  // namespace sim
