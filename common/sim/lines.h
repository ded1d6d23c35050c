// Where in the source a return address lies.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

struct Line {
    std::string file;  // empty if unknown
    int number = 0;
    std::string text;  // of that line, trimmed; empty if the file is not at hand
};

// The lines of the calls that return to these addresses, from the program's debug information.
// Asks addr2line, which every compiler installation has; without it, lines are unknown.
std::vector<Line> lines_of(const std::vector<uint64_t>& return_addresses);

}  // namespace sim
