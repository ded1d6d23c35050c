#include "count_rows.h"

#include "../../common/base/explain.h"

namespace sim {
namespace {

Value number(const char* name, uint64_t value) { return {name, std::to_string(value)}; }
Value word(const char* name, const std::string& text) { return {name, text, false}; }

}  // namespace

std::vector<Value> launch_values(const Launches& l)
{
    return {word("kernel", l.name),
            number("grid_x", l.grid.x),
            number("grid_y", l.grid.y),
            number("grid_z", l.grid.z),
            number("block_x", l.block.x),
            number("block_y", l.block.y),
            number("block_z", l.block.z),
            number("dynamic_shared_bytes", l.dynamic_bytes),
            number("shared_bytes_per_block", l.counts.shared_bytes),
            number("launches", l.counts.launched.launches),
            number("blocks_run", l.counts.launched.blocks)};
}

std::vector<Value> access_values(const harness::AccessSite& s)
{
    return {word("file", s.file),
            number("line", uint64_t(s.line)),
            word("access", access_name(s)),
            word("memory", memory_name(s)),
            number("element_bytes", s.element_bytes),
            number("requests", s.requests),
            number("accesses", s.accesses),
            word("unit", s.unit),
            number("units", s.units),
            number("ideal_units", s.ideal),
            number("worst_request", uint64_t(s.worst)),
            number("bytes_moved", s.bytes),
            number("bytes_asked", s.asked)};
}

}  // namespace sim
