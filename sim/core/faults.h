// Signals that a simulated thread raises.

#pragma once

namespace sim {

// On this host thread, from now on. Called for each launch.
void catch_faults();

}  // namespace sim
