// The kernels of a program: what each is called, what it must produce, how it is launched.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reference.h"

namespace harness {

enum class Type { f32, f64, i32 };

constexpr Type all_types[] = {Type::f32, Type::f64, Type::i32};

constexpr size_t bytes_of(Type type) { return type == Type::f64 ? 8 : 4; }
const char* name_of(Type type);          // float, double, int
const char* name_of(Produces produces);  // copy, transpose, tile-local transpose, tile-moved copy

// One kernel as one back end compiled it.
struct Kernel {
    std::string name;     // of the __global__ function
    std::string row;      // in the table of sources: W1, B3, ...
    std::string step;     // the folder of the file that defines it
    std::string backend;  // cuda or sim
    Expected expected;
    // Enqueues one pass from idata (height x width) to odata, one launcher per Type.
    using Launcher = void (*)(void* odata, const void* idata, int width, int height);
    Launcher launch[3];
};

// Every kernel linked into this program, in the order of its source files.
std::vector<Kernel>& kernels();

// The step of a source path: step04_padding for step04_padding/step04.cu.
std::string step_of(const char* file);

// Registers a kernel at program start: Pass::run<T> launches one pass of it, and the types
// are what the back end calls float, double and int. They tell the two compilations of one
// source file apart, too.
template <typename Pass, typename Float, typename Double, typename Int>
struct Registration {
    template <typename T>
    static void launch(void* odata, const void* idata, int width, int height)
    {
        Pass::run(static_cast<T*>(odata), static_cast<const T*>(idata), width, height);
    }

    Registration(const char* backend, const char* name, const char* row, const char* file,
                 Expected expected)
    {
        kernels().push_back({name, row, step_of(file), backend, expected,
                             {launch<Float>, launch<Double>, launch<Int>}});
    }
};

// Throws bad input if CUDA cannot launch such a grid. The simulator keeps to the same
// limits: a kernel that runs there runs on the hardware.
void check_launch(unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z);

}  // namespace harness
