// The command line every step has.

#pragma once

#include <string>

#include "kernel.h"

namespace harness {

struct Options {
    int width = 0, height = 0;  // 0: the device's default
    Type type = Type::f32;
    int reps = 0;  // 0: the device's default
    std::string device = "auto";
    std::string kernel;  // empty: all
    std::string csv;     // empty: none
    double peak_gbs = 0;  // 0: ask the device
    std::string machine = "h200";  // that the simulator stands for
    bool explain = false;
    bool list = false, list_machines = false, help = false;
};

// Throws Error with status_bad_input: one line saying what was wrong and what would be right.
Options parse_options(int argc, char** argv);

std::string usage(const std::string& program);

}  // namespace harness
