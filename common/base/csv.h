// CSV files: their cells and lines. files.h writes them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harness {

// A cell, in quotes where it needs them.
std::string csv_cell(const std::string& text);

// A line of cells, with its end.
std::string csv_line(const std::vector<std::string>& cells);

// first:step where the offsets are as far from each other as from the next, else all of them.
std::string csv_offsets(const std::vector<int64_t>& offsets);

// The date and time, as in 2026-01-31T12:00:00Z.
std::string utc_now();

}  // namespace harness
