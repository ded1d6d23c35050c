// Launchers in a process of their own, for submissions that nobody has read.

#pragma once

#include <functional>

namespace sim {

// Runs the host's code of a launch. `apart`: the code runs in a copy of this process, and its launches in this one.
// Returns when the code has returned. Throws harness::Error if the code does. With `apart`, it also throws if the code
// accesses a matrix, ends otherwise, or asks for a launch that is none.
void run_launcher(const std::function<void()>& host_code, bool apart);

}  // namespace sim
