// The simulator as the host sees it.

#pragma once

#include "trace.h"

namespace sim {

// What all launches counted since the last call.
Counts take_counts();

// How many host threads share the blocks of a grid: at first one per processor this process
// may use. Not to be called while a kernel runs.
int host_threads();
void set_host_threads(int count);

}  // namespace sim
