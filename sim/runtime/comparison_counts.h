// Both counts of one launch.

#pragma once

#include <vector>

#include "../../common/base/counts.h"
#include "comparison_text.h"
#include "ncu.h"

namespace sim {

// In the order of ncu_counts().
std::vector<ComparedCount> compared_counts(const NcuLaunch& theirs, const harness::LaunchCounts& ours, dim3 block);

// Line by line, of a launch on the page `source`. None of another.
std::vector<ComparedLine> compared_lines(const NcuLaunch& theirs, const harness::LaunchCounts& ours);

}  // namespace sim
