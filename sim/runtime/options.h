// Options of a program that runs on the simulator, and the machine that they choose.

#pragma once

#include <string>
#include <vector>

#include "../../common/base/machine.h"

namespace sim {

// The environment variable SIM_OPTIONS.
struct ProgramOptions {
    std::vector<const harness::Machine*> machines = {&harness::machine_named("h200")};
    bool each_machine = false;  // the program runs once for each of them
    std::string csv, json, sarif, trace;  // files; empty: none
    bool quiet = false;      // findings alone
    bool silent = false;     // and nothing if there are none
    int gpus = 1;
    bool peers = true;       // devices can access each other's memory
    int threads = 1;         // of the host; more than one do not look for races in global memory
    int blocks = 0;          // of each launch that run; 0: all
    int patience = 10;       // seconds of one launch, before a line says how many blocks are done
    std::string kernel;      // a name or a regular expression: report these kernels alone; empty: all
    unsigned tools = 15;     // of tools_named(): report these findings alone
    int error_exitcode = -1; // status of a program with findings; -1: 1, if its own is 0
    bool help = false, version = false;  // print these, and do not run the program
};

// An option's line of --help. `value`: null if it takes none. --help and --version are left out, because each
// program has its own.
struct OptionText {
    const char *name, *value, *help;
};
std::vector<OptionText> known_program_options();

// Throws Error with status_bad_input: one line.
ProgramOptions parse_program_options(const std::string& text);

// The text of --help.
std::string program_usage();

// Those of this program, once read_program_options() has read SIM_OPTIONS. It throws as parse_program_options() does.
ProgramOptions& program_options();
void read_program_options();

// The machine that is simulated. Of several, each has a process of its own (machines.h).
const harness::Machine& machine();

}  // namespace sim
