// The counts of all launches, added up by kernel and shape.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../common/base/counts.h"
#include "../../common/base/model.h"
#include "../core/lanes/launching.h"

namespace sim {

// All launches of one kernel in one shape.
struct KernelLaunches {
    std::string name;
    dim3 grid, block;
    size_t dynamic_bytes;  // of shared memory
    harness::LaunchCounts counts = {};  // sums over the launches; a number that is no sum is that of the last launch
    double model_ms = 0;           // of all launches together; 0: the machine has no such model
    harness::Prediction longest{};  // of the launch that takes longest
};

// The records of all launches, in the order of each kernel's first launch.
const std::vector<KernelLaunches>& all_launches();
// So many launches have finished.
uint64_t launches_finished();
// The launches among them whose kernels --kernel names.
uint64_t launches_reported();
// The names of the kernels that --kernel leaves out.
std::vector<std::string> kernels_left_out();

// The mean of the launches' modelled times, and the limits of the longest one. None for a machine without constants,
// and for a sample of the blocks.
std::optional<harness::Prediction> model_of(const KernelLaunches& launches);

void add_launch(const Launching& launching, const harness::LaunchCounts& counts);

// The kernel's own name where its address is known, else the name as it was written at the launch.
const char* name_of(const Launching& launching);

// kernel<<<grid, block>>>, for a reader.
std::string title_of(const std::string& kernel, dim3 grid, dim3 block, size_t dynamic_bytes);

}  // namespace sim
