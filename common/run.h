// A run: every kernel that is asked for, on every shape, verified and then timed (GPU) or counted (simulator).

#pragma once

#include <string>

#include "options.h"

namespace harness {

// Prints and writes what the options ask for. `program`: its name, with which its messages begin. Returns the exit
// status. Throws Error for what cannot be run.
int run(const Options& options, const std::string& program);

}  // namespace harness
