// Launchers in a process of their own: where a submission runs that nobody has read.

#pragma once

#include <functional>

namespace sim {

// Runs the host's code of a launch. `apart`: in a copy of this process, and what it launches in this one. Returns when
// the code has returned. Throws harness::Error if the code does; apart, also if it accesses a matrix or ends otherwise,
// or asks for a launch that is none.
void run_launcher(const std::function<void()>& host_code, bool apart);

}  // namespace sim
