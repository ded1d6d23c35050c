// The options of nvcc and g++ that simcuda takes, and what becomes of each.

#pragma once

#include <string>
#include <vector>

namespace command {

// How an option has its value.
enum class Form {
    none,    // -lineinfo
    value,   // -arch sm_90, -arch=sm_90
    joined,  // -Ifolder, -I folder
    prefix,  // -O3: the rest of the word, which may be empty
};

// The part of the build that an option is for.
enum class For {
    preprocessor,  // of every file
    standard,      // the language's, of C++ or of C
    host,          // the compiler, where it compiles for the host alone
    compiler,      // the compiler of every file, and the linker
    linker,
    parts,         // the value has options of g++: -Xcompiler -fopenmp,-Wall
    nothing,       // it has no effect on a simulated program
    refused,       // it asks for what the simulator does not make
    simcuda,       // its own
};

struct CompilerOption {
    const char* name;  // without dashes
    const char* dashes;
    Form form;
    For purpose;
    const char* as = nullptr;  // g++'s name, if it is another one
};

// Every option that has a name. Of two that fit, the first is meant.
const std::vector<CompilerOption>& compiler_options();

// Libraries of the CUDA Toolkit: -lcublas. Programs are linked without them.
bool is_cuda_library(const std::string& name);

}  // namespace command
