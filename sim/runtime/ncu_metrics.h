// Which metrics of Nsight Compute are which counts of the simulator: ncu_metrics.csv.

#pragma once

#include <string>
#include <vector>

namespace sim {

struct NcuMetric {
    std::string name;
    int since;  // the first compute capability that has it, times ten; 0: all do
};

// A count that both may have.
struct NcuCount {
    std::string name;  // "global load sectors", for example: memory, access and what is counted
    // Ways to get it from metrics, the best one first. Each is a sum of metrics.
    std::vector<std::vector<NcuMetric>> ways;
};

// In the order in which a reader gets them.
const std::vector<NcuCount>& ncu_counts();

// True if a count is made of this metric.
bool is_counted(const std::string& metric);

}  // namespace sim
