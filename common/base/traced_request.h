// Traces: every request of a kernel as a line of CSV. The harness and programs of `make try` write the same lines,
// which differ only in their first columns.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace harness {

// One request of a warp.
struct TracedRequest {
    unsigned block[3];
    int warp, phase;     // phase: barriers that the block has passed
    bool store;
    std::string memory;  // idata, odata or shared; an allocation of a program
    int line;            // of the kernel's source; 0 if unknown
    unsigned bytes;      // that each lane accesses
    uint32_t lanes;      // bit l set: lane l takes part
    std::vector<int64_t> offsets;  // of those lanes, in bytes from where that memory begins
    int units;           // its cost, as in AccessCounts
    int partition;       // of its first byte; -1: shared memory, or unknown
};

using TraceSink = std::function<void(const TracedRequest&)>;

// The columns that every trace ends with, and the end of that line.
constexpr const char* trace_columns = "warp,phase,access,memory,line,lane_bytes,lanes,offsets_bytes,units,partition\n";

// The cells that all lines of one kernel begin with, and a comma.
std::string trace_begin(const std::vector<std::string>& cells);

// `begin`, so many indices of the block, and the columns above: lanes are a hexadecimal mask, offsets are as
// csv_offsets() writes them.
std::string trace_line(const std::string& begin, int block_indices, const TracedRequest& request);

}  // namespace harness
