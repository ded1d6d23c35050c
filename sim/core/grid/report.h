// The report of a launch, or of several: first by the places of the machine code, as the host threads counted them,
// then by the lines of the source, as a reader sees them.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "../../../common/base/counts.h"
#include "../../../common/base/machine.h"
#include "../sinks/faults.h"
#include "../lanes/indices.h"
#include "../sinks/counter.h"
#include "../sinks/windows.h"

namespace sim {

struct Report {
    std::vector<SiteCounts> sites;  // in the order of their addresses
    std::vector<Fault> faults;
    PartitionCounts partitions;
    std::map<uint64_t, Peers> peers;  // by window
    uint64_t resident_blocks = 0;     // blocks of one window
    harness::RooflineCounts roofline;
    uint64_t barriers = 0;         // of all blocks
    harness::Launched launched;
    dim3 grid, block;
    uint64_t shared_bytes = 0;     // the most that a block declared
    uint64_t output_stored = 0;    // bytes that were stored to odata, those stored twice counted twice
    bool ended = false;               // a fault has ended a thread, which then stored no more
    bool unordered_possible = false;  // odata was read, or other memory was stored to

    void add_sites(const std::vector<SiteCounts>& more);
    // Of a thread's own arrays, leaves those in local memory. nvcc has the others in registers.
    void keep_local_memory();
    // Adds the counts of a later launch. The grid, windows and peers are no sums, and are those of the later launch.
    void add(const Report& later);
    uint64_t accesses() const;     // by single threads
    uint64_t requests(Space space, Kind kind) const;
};

// The report by lines of the source if `locate` is set, else by places without a name. Findings are left out.
harness::LaunchCounts counts_of(const Report& report, const harness::Machine& machine, bool locate);

}  // namespace sim
