// The command line every step has.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/arguments.h"
#include "kernel.h"

namespace harness {

// Of idata: `height` rows of `width` elements.
struct Shape {
    int width, height;
};

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
    std::string csv;     // empty: none
    std::string trace;   // empty: none
    double peak_gbs = 0;  // 0: ask the device
    std::string machine = "h200";  // that the simulator stands for
    int gpus = 0;                  // that a kernel of several GPUs runs on; 0: its usual number
    bool explain = false;
    bool list = false, list_machines = false, help = false;
};

// Throws Error with status_bad_input: one line saying what was wrong and what would be right.
Options parse_options(int argc, char** argv);

std::string usage(const std::string& program);

// What other command lines share with it. Each throws status_bad_input for what it cannot read.
Type type_named(const std::string& name);
std::vector<Shape> shapes_in(const std::string& list);  // N or WxH, separated by commas
std::vector<std::string> split(const std::string& text, char separator);  // an empty part stays one, to be refused
std::string file_named(const char* option, const char* text);              // not empty
std::string device_named(const std::string& name);                         // auto, cuda or sim
// `c`: what getopt_long(), with options that begin with ':', returned for the argument before optind.
[[noreturn]] void refuse_argument(int c, char** argv);

}  // namespace harness
