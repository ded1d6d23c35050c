// Launchers in a process of their own: where a submission runs that nobody has read.

#pragma once

#include <functional>

namespace sim {

// Runs the host's code of a launch in a copy of this process, and what it launches in this one. Returns when the code
// has returned. Throws harness::Error if the code does, if it accesses a matrix or ends otherwise, or if it asks for a
// launch that is none.
void run_apart(const std::function<void()>& host_code);

}  // namespace sim
