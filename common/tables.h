// The tables that a run prints for people.

#pragma once

#include <string>
#include <vector>

#include "results.h"

namespace harness {

// Lines of cells, the heading first.
using TableLines = std::vector<std::vector<std::string>>;

// Columns as wide as their widest cell: the first two flush left, the rest right. A line may have fewer cells than the
// first.
std::string aligned(const TableLines& lines);

// The rows of one device and one shape: times on a device with a clock, else counts.
std::string table(const Results& results);

// The traffic between several GPUs, as the simulator counted it, and the model's time for it. Empty where there are
// none.
std::string between_table(const Results& results);

// The bandwidths of one device at several sizes, a column each. Empty where nothing was timed.
std::string sweep_table(const std::vector<Results>& sizes);

// The times that the machine's model makes of the counts, next to the published ones at 2048 x 2048 float.
// Empty for a machine without a model; a hint where the model does not apply.
std::string model_table(const Results& results);

}  // namespace harness
