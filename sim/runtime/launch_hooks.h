// The runtime's work before and after each launch.

#pragma once

namespace sim {

// From now on, the core calls it.
void use_launch_hooks();

}  // namespace sim
