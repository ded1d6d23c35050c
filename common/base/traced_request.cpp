#include "traced_request.h"

#include "csv.h"
#include "error.h"

namespace harness {

std::string trace_begin(const std::vector<std::string>& cells)
{
    std::string begin = csv_line(cells);
    begin.back() = ',';
    return begin;
}

std::string trace_line(const std::string& begin, int block_indices, const TracedRequest& t)
{
    std::string line = begin;
    for (int i = 0; i < block_indices; ++i) line += format("%u,", t.block[i]);
    line += format("%d,%d,%s,", t.warp, t.phase, t.store ? "store" : "load") + csv_cell(t.memory);
    line += format(",%d,%u,%08x,", t.line, t.bytes, t.lanes) + csv_offsets(t.offsets);
    return line + format(",%d,", t.units) + (t.partition < 0 ? "" : std::to_string(t.partition)) + "\n";
}

}  // namespace harness
