// Faults of kernels: those that compute-sanitizer's memcheck, racecheck, initcheck and
// synccheck look for, at the line where it happens.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../common/base/finding.h"
#include "launch.h"
#include "requests.h"

namespace sim {

enum class Fault {
    read_after_write,    // a thread reads what another writes, with no barrier between
    write_after_read,    // a thread overwrites what another reads
    write_after_write,
    race_beside,         // with a launch or a copy that nothing orders
    out_of_bounds_load,
    out_of_bounds_store,
    store_to_input,
    use_after_free,
    host_memory,         // by a kernel
    no_peer_access,      // to memory of another device
    host_access,         // to device memory, by the host
    misaligned,
    uninitialized,
    barriers_differ,      // that threads of the block wait at
    barrier_not_reached,  // by a thread that has left the kernel
    barrier_passed_by,    // by lanes that came to the kernel's end
    lanes_not_reached,    // an operation of a warp, by all lanes of its mask
    mask_differs,         // from that of another lane, or lacks the own lane
    absent_lane,          // that a shuffle reads: `other_thread`
    bad_free,             // in a kernel
    local_array,          // an index beyond the end of an array of the thread's own
    stack_overflow,       // more local memory than a thread has here
    endless_loop,
    failed,               // an assertion, __trap(), or what is not supported
};

// The first of all that went wrong in the same way at the same place, and how many there were.
struct Finding {
    Fault fault;
    Site first, second;                // second: where the other access of a race is made
    int thread = 0, other_thread = 0;  // linear index in the block, of the first and second access
    uint64_t block = 0;                // linear index in the grid
    std::string memory = {};           // that the address lies in, or next to: odata; shared memory (tile)
    int64_t offset = 0;                // of the address from where that begins, in bytes
    uint64_t count = 1;
    uint64_t other_block = 0;          // of the second access
    bool global = false;               // a race in global memory
    std::string text = {};             // of what failed
    struct {
        int first, second, elsewhere;
    } threads = {};                    // that wait: at `first`, at `second`, at other places
    bool signal = false;  // the threads of a race may have meant a word to order them
    uint64_t barrier = 0;       // between the places of a race, where one of both threads waits
    int waiting = 0;            // that thread
    uint64_t beside = 0;  // where a launch or a copy is called that races with this one
};

// The end of a finding on a load of which some bytes are stored and others are not.
constexpr char maybe_padding[] = "; other bytes of it were stored: if these are padding, nothing is wrong";

// True if two findings are the same fault at the same places of the source.
bool same_fault(const Finding& a, const Finding& b);

class Findings {
public:
    void add(const Finding& finding);
    std::vector<Finding> list;
};

// True if two accesses have one kind, size and place in the source. Compilers copy accesses, so addresses can differ.
bool same_place(Site a, Site b);

// True if the program can record events, which are the remedy for a race with another launch.
enum class Remedy { none, event };

// The place that a call returns to.
harness::FindingPlace finding_place(uint64_t return_address);

// One finding with a text in the words of compute-sanitizer.
harness::FindingRecord finding_record(const Finding& finding, const std::string& kernel, dim3 grid, dim3 block,
                                      Remedy remedy = Remedy::event);

}  // namespace sim
