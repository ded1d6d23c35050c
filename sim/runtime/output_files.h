// The files that SIM_OPTIONS asks for: counts (--csv), counts and findings (--json, --sarif), and requests (--trace).

#pragma once

#include <cstdint>

#include "../core/lanes/launching.h"
#include "options.h"

namespace sim {

// Opens them, so that a path that cannot be written costs no results. Throws Error with status_bad_input.
void open_files();

// Gives each machine files of its own: counts.csv becomes counts.t4.csv.
void name_files_after(const harness::Machine& machine, ProgramOptions& options);

// Throws as open_files() does, and opens nothing.
void try_files(const ProgramOptions& options);

// Receives the requests of a launch; null if there is no file for them. `number`: of the launch, from 1.
const harness::TraceSink* trace_of(const Launching& launching, uint64_t number);

// Writes all files, or none. `signal`: the one that ended the program, which then gets no files; 0: none. Throws Error
// with status_bad_input.
void write_files(int signal);

}  // namespace sim
