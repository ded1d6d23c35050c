// Which program has which kernel, of all steps. The build writes the list from the lines KERNEL(...) of their files.

#pragma once

#include <string>
#include <vector>

namespace harness {

// Every kernel of every step, in the order of the steps.
std::vector<std::string> kernels_of_all_steps();

// The program of a kernel, for example step02; empty if no step has it.
std::string program_of(const std::string& kernel);

}  // namespace harness
