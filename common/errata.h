// The gallery of published faults.

#pragma once

#include <string>
#include <vector>

#include "base/machine.h"

namespace harness {

// Runs the program's faulty kernels, checks and methods, or only those named, on the simulator and the CPU: prints what
// was published, what finds the fault, and that the corrected twin passes. `csv`: a file that gets the same for
// programs unless a fault was missed, or empty. Returns status_ok if every fault was found by its check and every twin
// is clean, else status_wrong_result. Throws status_bad_input for an unknown name.
int run_errata(const std::vector<std::string>& names, const Machine& machine, const std::string& csv,
               const std::string& program);

}  // namespace harness
