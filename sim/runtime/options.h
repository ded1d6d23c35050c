// The options of a program that runs on the simulator, and the machine that they choose.

#pragma once

#include <string>
#include <vector>

#include "../../common/base/machine.h"

namespace sim {

struct ProgramOptions {
    std::vector<const harness::Machine*> machines = {&harness::machine_named("h200")};
    bool each_machine = false;  // the program runs once for each of them
    std::string csv, json, sarif, trace, page;  // files; empty: none
    std::string against;  // the record of an earlier run, that the page compares with; empty: none
    bool explain = false;    // every access, and the occupancy
    bool quiet = false;      // findings alone
    bool silent = false;     // findings alone, and no report if there are none
    int gpus = 1;
    bool peers = true;       // devices can access each other's memory
    int threads = 1;         // of the host; more than one do not look for races in global memory
    int blocks = 0;          // of each launch that run; 0: all
    int patience = 10;       // seconds of one launch, before a line says how many blocks are done
    std::string kernel;      // a name or a regular expression: report these kernels alone; empty: all
    std::vector<std::string> tools;  // report the findings of these alone; empty: of all
    int error_exitcode = -1; // status of a program with findings; -1: 1, if its own is 0
    bool help = false, version = false;  // print these, and do not run the program
    bool list = false;       // with help: for sim/simcuda
};

// The text of --help, or of --list.
std::string program_usage();

// The options of this program, once read_program_options() has read them from the environment: SIM_OPTIONS has one
// text, which a person writes, and SIM_OPTION_0, SIM_OPTION_1, ... have one word each, from sim/simcuda. Throws Error
// with status_bad_input: one line.
ProgramOptions& program_options();
void read_program_options();

// The machine that is simulated. If there are several, each has a process of its own (machines.h).
const harness::Machine& machine();

}  // namespace sim
