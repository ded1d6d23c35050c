// Runs kernels: a launch goes down with its settings, and what it counted and found comes back.

#pragma once

#include <cstdint>
#include <vector>

#include "../lanes/launching.h"
#include "../sinks/global_checker.h"
#include "../sinks/settings.h"
#include "report.h"

namespace sim {

// Runs a kernel. CUDA's limits are not checked.
Report run_grid(const Launching& launching, const Code& code, const Settings& settings);

// The number of blocks that have run so far, over all launches. A copy counts as a block.
uint64_t blocks_run();
void count_a_copy();

// Begins a copy, which is a block with this number.
GlobalChecker& begin_copy(uint64_t block, const std::vector<Beside>& beside);

// How many host threads share the blocks of a grid: at first one per processor this process
// may use. Not to be called while a kernel runs.
int host_threads();
// The number of host threads that sleep when no kernel runs.
int sleeping_threads();
void set_host_threads(int count);

}  // namespace sim
