// The command line of step 8.

#pragma once

#include <string>
#include <vector>

#include "../common/options.h"

struct CommandLine {
    std::vector<harness::Shape> shapes;  // empty: the device's default
    harness::Type type = harness::Type::f32;
    int gpus = 0;                        // 0: all GPUs; on the simulator 4
    int reps = 10;
    int patience_s = 60;                 // for a process that does not come
    std::string device = "auto", machine = "h200", link = "nvlink4";
    std::vector<std::string> kernels;    // empty: the lesson's
    bool all = false, once = false, explain = false, list = false, help = false;
    std::string csv;                     // empty: none
};

// Throws Error with status_bad_input: one line saying what was wrong and what would be right.
CommandLine parse(int argc, char** argv);

std::string usage();
