// The files that SIM_OPTIONS asks for: counts (--csv), counts and findings (--json, --sarif), and requests (--trace).

#pragma once

#include <cstdint>

#include "../core/launch.h"

namespace sim {

// Opens them, so that a path that cannot be written costs no results. Throws Error with status_bad_input.
void open_files();

// Has the requests of a launch traced, if there is a file for them. `number`: of the launch, from 1.
void trace_launch(const Launching& launching, uint64_t number);

// Writes all files, or none. `signal`: the one that ended the program, which then gets no files; 0: none. Throws Error
// with status_bad_input.
void write_files(int signal);

}  // namespace sim
