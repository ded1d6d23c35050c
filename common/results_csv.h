// The CSV file of results: --csv FILE.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results.h"

namespace harness {

// A heading, and a line for each row of all results that was not refused. Columns about several GPUs are added where a
// matrix was spread over some. `date`: the first cell, as utc_now() gives it.
std::string csv(const std::vector<Results>& results, const std::string& date);

// The cells of one row's line, each after the name of its column.
using NamedCells = std::vector<std::pair<std::string, std::string>>;
NamedCells named_cells(const Results& results, const Result& row, const std::string& date);

}  // namespace harness
