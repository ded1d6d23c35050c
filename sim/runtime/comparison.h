// The counts of the simulator next to those of Nsight Compute (--ncu).

#pragma once

#include <cstdint>
#include <string>

#include "../../common/base/counts.h"
#include "../core/launch.h"

namespace sim {

// Reads the file that SIM_OPTIONS names, if it names one. Throws Error with status_bad_input.
void open_comparison();

// Takes the counts of a launch. `number`: of the launch, from 1.
void compare_launch(const Launching& launching, const harness::LaunchCounts& counts, uint64_t number);

// The part of the report; empty without a file.
std::string comparison_text();

}  // namespace sim
