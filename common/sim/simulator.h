// The simulator as the host sees it.

#pragma once

#include "../machine.h"
#include "../reference.h"
#include "checker.h"
#include "counter.h"
#include "launch.h"
#include "trace.h"

namespace sim {

// A matrix the kernel may touch, and where it lies in the GPU's memory. Nothing else may be
// touched. `unwritten`: what the elements of an output hold until they are written, or null.
struct Memory {
    const void* begin;
    uint64_t bytes;
    uint64_t gpu_address;
    const harness::Contents* unwritten;
};

// What the next launches may load (both) and store to (odata).
void use_memory(const Memory& idata, const Memory& odata);

// The machine to count for. At first the H200.
void use_machine(const harness::Machine& machine);

// Without instruments, requests are formed and dropped: for measuring what counting and checking
// cost, and nothing else. Reports are empty then.
void use_instruments(bool on);

// One request on record.
struct Traced {
    Site site;
    uint64_t block;
    int warp, phase;  // phase: barriers that the block has passed
    enum Where { idata, odata, shared } where;
    uint32_t lanes;   // bit l set: lane l takes part
    std::vector<int64_t> offsets;  // of those lanes, in bytes from where the matrix or the shared memory begins
    int units;
    int partition;    // of the first lane's byte; -1: shared memory, or a machine whose map is unknown
};

// Whether the next launches keep all of their requests, in the order of the blocks.
void use_trace(bool on);

// What the launches since the last call did.
struct Report {
    std::vector<SiteCounts> sites;
    std::vector<Finding> findings;
    PartitionCounts partitions;  // of the last launch
    uint64_t resident_blocks = 0;  // of the last launch: blocks of one window
    uint64_t load_batches = 0;     // of the last launch: loads of a warp with no store between them
    uint64_t load_lines = 0, store_lines = 0;  // of the last launch: lines of 128 bytes that each request touches
    uint64_t barriers = 0;         // of the last launch, of all blocks
    dim3 grid, block;              // of the last launch
    uint64_t shared_bytes = 0;     // that a block of the last launch declared
    std::vector<Traced> trace;     // with use_trace
    uint64_t accesses() const;     // by single threads
    uint64_t requests(Space space, Kind kind) const;
};
Report take_report();

// How many host threads share the blocks of a grid: at first one per processor this process
// may use. Not to be called while a kernel runs.
int host_threads();
void set_host_threads(int count);

}  // namespace sim
