// The command line every step has.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/machine.h"
#include "kernel.h"
#include "option_values.h"

namespace harness {

struct Options {
    std::vector<Shape> shapes;  // empty: the device's default
    Type type = Type::f32;
    int reps = 0;  // 0: the device's default
    uint32_t seed = 0;
    std::string device = "auto";
    std::vector<std::string> kernels;  // empty: the lesson's
    bool all = false;                  // the variants, too
    std::vector<Block> blocks;         // empty: each kernel's own
    bool one_launch = false, once = false, print = false, errata = false;
    std::string csv;      // a path; empty: none
    std::string trace;    // a path; empty: none
    std::string json;     // a path; empty: none
    std::string page, against;  // paths; empty: none
    double peak_gbs = 0;  // 0: ask the device
    const Machine* machine = &machine_named("h200");  // that the simulator stands for
    int gpus = 0;  // for kernels of several GPUs; 0: all, or the usual number of the simulator
    std::string link = "nvlink4";  // between GPUs, in the model
    int patience_s = 60;           // how long to wait for a process that does not come
    bool explain = false;
    bool separate_host = false;  // launchers run in a process of their own
    bool list = false, list_machines = false, help = false, version = false;
};

// Reads a command line. Throws Error with status_bad_input: one line saying what was wrong and what would be right.
Options parse_options(int argc, char** argv);

// The text of --help. `program`: the name of the step's program.
std::string usage(const std::string& program);

}  // namespace harness
