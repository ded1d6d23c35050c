// Faults of the host's code, and Ctrl-C.

#pragma once

namespace sim {

// From now on, a fault of the host's code ends in a report, and so does Ctrl-C. A kernel that is interrupted has two
// seconds of computing to come to where it can stop.
void catch_host_faults();
// Says whether a kernel runs.
void set_running(bool running);
// Says that the threads of the launch have ended, and that its report follows.
void kernel_stopped();

}  // namespace sim
