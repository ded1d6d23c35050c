// Counts the cost of requests on a machine, per access site. What a part of a request costs goes on to the sinks.

#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../../../common/base/counts.h"
#include "rules.h"
#include "sink.h"

namespace sim {

// The request whose bank conflicts cost most. Among equal ones it is the first in the order of launches and blocks, so
// it does not depend on the number of host threads.
struct WorstConflict {
    int units = 0;       // 0: no conflicts
    uint64_t block = 0;  // numbered over all launches
    Conflict conflict;   // its words count from where the block's shared memory begins
    void add(const WorstConflict& other);
};

// An array or a structure of a thread's own.
struct LocalArray {
    uint64_t place = 0;  // behind its declaration; 0: an object that was not announced
    uint64_t bytes = 128;
    unsigned cost = 0;   // of indices that nvcc does not know, by the text: all threads may share them
};

// The index of one access to such an array: do threads differ in it?
struct LocalIndex {
    LocalArray array;
    uint64_t turn = 0;       // in which the access was made first
    bool in_loop = false;    // it was made in other turns, too
    uint64_t block = ~0ull;  // the first in which two threads differ, numbered over all launches
    int thread[2] = {};      // these, and the offsets that they have in the array
    uint64_t offset[2] = {};

    bool differs() const { return block != ~0ull; }
    void add(const LocalIndex& other);
};

// The cost of all requests made at one site.
struct SiteCounts : harness::AccessCounts {
    Site site = 0;
    Space space = global;
    WorstConflict worst_conflict;
    LocalIndex index;       // of local memory
    uint64_t l1_turns = 0;  // of local memory
    std::vector<harness::DrawnRequest> drawn;

    bool same_access(const SiteCounts& other) const
    {
        return site == other.site && space == other.space && index.array.place == other.index.array.place;
    }
    void add(const SiteCounts& other);
};

// A host thread's share of the counting.
class Counter {
public:
    void start(const Rules& rules) { rules_ = &rules; }
    void start_block(uint64_t block)  // numbered over all launches
    {
        block_ = block;
        if (!seen_.empty()) seen_.clear();
    }
    // The cost holds until the next call.
    Cost count(const PartOfRequest& part);

    // Counts since they were last taken.
    std::vector<SiteCounts>& sites() { return sites_; }
    uint64_t output_stored = 0;       // bytes, to memory whose contents are to be verified
    bool unordered_possible = false;  // global memory was used in a way that may be a race
    std::vector<LocalArray> local_arrays;  // by number: access.h

private:
    // `offset`: the distance from an address on the host to the one in the block's shared memory.
    Cost count_shared(const Request& request, uint64_t offset);
    Cost count_global(const Request& request, Space space);
    Cost count_constant(const Request& request);
    Cost count_local(const Request& request, int warp);
    void compare(LocalIndex& index, const Request& request, int warp);
    void look_at_output(const Request& request, const Allocation& memory);
    bool is_one_operation(const Request& request) const;
    SiteCounts& at(const Request& request, Space space, const LocalArray& array);
    SiteCounts& note(const Request& request, Space space, const LocalArray& array = {});
    Cost cost(SiteCounts& here, int units) const;
    void note_conflict(SiteCounts& site, const Request& request, int units, uint64_t offset);

    const Rules* rules_ = nullptr;
    std::vector<SiteCounts> sites_;
    size_t next_ = 0;  // sites come round in the same order
    Transactions transactions_;
    uint64_t block_ = 0;
    struct Seen {
        uint64_t address;
        int warp, thread;
    };
    std::unordered_map<uint64_t, Seen> seen_;  // accesses to local arrays in this block, by site and turn
};

}  // namespace sim
