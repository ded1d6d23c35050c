// What surrounds a program that runs on the simulator unchanged: its options, and the report at its end.

#pragma once

#include <string>

#include "../../common/base/counts.h"
#include "../../common/base/machine.h"
#include "../core/launch.h"

namespace sim {

// The environment variable SIM_OPTIONS.
struct ProgramOptions {
    std::string machine = "h200";
    std::string csv, trace;  // files; empty: none
    bool quiet = false;      // findings alone
    bool silent = false;     // and nothing if there are none
    int gpus = 1;
    bool peers = true;       // devices can access each other's memory
    int threads = 1;         // of the host; more than one do not look for races in global memory
    int blocks = 0;          // of each launch that run; 0: all
    int patience = 10;       // seconds of one launch, before a line says how many blocks are done
};
// Throws Error with status_bad_input: one line.
ProgramOptions parse_program_options(const std::string& text);

ProgramOptions& program_options();

// The machine that is simulated.
const harness::Machine& machine();

// What the program must not do. The same again is counted: what has the same key, or else the same text.
void program_finding(const std::string& text, uint64_t count = 1, const std::string& key = "");
// What a reader of the program's output has to know. Said once.
void program_note(const std::string& text);

// The kernel's own name, where its address is known; else as it was written at the launch.
const char* name_of(const Launching& launching);

void program_launch_finished(const Launching& launching, const harness::LaunchCounts& counts);

// Prints the report and writes the files, if that has not been done. Returns the exit status, where `status` is the program's own.
// `signal`: the one that ends the program, which then writes no files; 0: none.
int finish_program(int status, int signal = 0);

// From now on, a fault of the host's code ends in a report, and so does Ctrl-C. A kernel that is interrupted has two
// seconds of computing to come to where it can stop. `running`: whether a kernel runs now; kernel_stopped(): the threads
// of the launch have ended, and what follows is its report.
void catch_host_faults();
void set_running(bool running);
void kernel_stopped();

}  // namespace sim
