#include "trace_lines.h"

#include "base/traced_request.h"
#include "figures.h"

namespace harness {

std::string trace_heading() { return std::string("machine,kernel,type,width,height,block_x,block_y,") + trace_columns; }

std::string trace_begin(const Results& results, const Result& r)
{
    return trace_begin({results.device.machine, r.kernel, name_of(results.type), number(results.width),
                        number(results.height)});
}

std::string trace_line(const std::string& begin, const TracedRequest& request) { return trace_line(begin, 2, request); }

uint64_t trace_bytes(const std::string& begin, uint64_t requests)
{
    constexpr uint64_t least = 45;  // of a request with offsets of one step, in the first megabyte
    return requests * (begin.size() + least);
}

}  // namespace harness
