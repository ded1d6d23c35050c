// The gallery of published faults.

#pragma once

#include <string>
#include <vector>

#include "base/machine.h"

namespace harness {

// Runs the program's faulty kernels, checks and methods, or only those named, on the simulator and the CPU:
// prints what was published, what finds the fault, and that the corrected twin passes. True if
// every fault was found by its check and every twin is clean. Throws status_bad_input for an
// unknown name.
bool run_errata(const std::vector<std::string>& names, const Machine& machine, const std::string& program);

}  // namespace harness
