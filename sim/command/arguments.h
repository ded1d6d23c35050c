// The command line of simcuda.

#pragma once

#include <string>
#include <vector>

namespace command {

using Words = std::vector<std::string>;

struct Arguments {
    // Files of the program, and as what each is compiled: cu, cpp or c; an object is only linked.
    Words files, kinds;
    // Options of g++, for: the preprocessor, the standard of C++ and of C, the compiler of the host's files, the
    // compiler of all files, the linker.
    Words cpp, std_cpp, std_c, host, compiler, linker;
    Words nvcc;         // all options of the compiler, as nvcc has them
    Words ignored;      // those that have no effect
    Words program;      // what follows --
    std::string simulator;  // options of the simulator, as SIM_OPTIONS has them
    std::string output;     // -o
    std::string keep;       // a folder for what is made on the way
    std::string device = "sim";
    bool compile_only = false, help = false, version = false;
};

// Throws Error with status_bad_input: one line.
Arguments parse(const Words& words);

std::string usage();

}  // namespace command
