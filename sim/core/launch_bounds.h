// __launch_bounds__(threads): CUDA launches no larger block of such a kernel.

#pragma once

namespace sim {

// The threads that it allows in a block; 0 if the kernel has no such bound, or is unknown (null).
unsigned launch_bound(const void* kernel);

}  // namespace sim
