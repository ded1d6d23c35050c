// The lines of --trace: one for each request of a warp.

#pragma once

#include <cstdint>
#include <string>

#include "results.h"

namespace harness {

// The heading, with its end of line. base/traced_request.h says what the columns hold.
std::string trace_heading();
// The cells with which every line of one kernel begins.
std::string trace_begin(const Results& results, const Result& result);
// A line: `begin`, then the request.
std::string trace_line(const std::string& begin, const TracedRequest& request);
// The bytes that so many of these lines take at least.
uint64_t trace_bytes(const std::string& begin, uint64_t requests);

}  // namespace harness
