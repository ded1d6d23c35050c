// The one header a step includes. It makes the same kernel source work on both back ends:
// nvcc compiles it for the GPU, any other C++ compiler for the simulator.
//
//   LAUNCH(kernel<T>, grid, block)(arguments...)    launches: kernel<T><<<grid, block>>>(arguments...)
//   KERNEL(kernel, row, produces, launcher)         registers the kernel with the program
//
// `launcher` is a function template (T* odata, const T* idata, int width, int height) that
// launches one pass over a height x width matrix; `produces` is what must be in odata
// afterwards: copies, transposes, transposes_each_tile(TILE) or moves_each_tile(TILE);
// `row` is the kernel's row in the table of sources.

#pragma once

#include <cstddef>

#include "kernel.h"

#ifdef __CUDACC__
#include "cuda/launch.h"
namespace backend = cuda;
#else
#include "sim/launch.h"
namespace backend = sim;
#endif

using harness::copies;
using harness::moves_each_tile;
using harness::transposes;
using harness::transposes_each_tile;

#define KERNEL(kernel, row, produces, launcher)                                       \
    struct kernel##_pass {                                                            \
        template <typename T>                                                         \
        static void run(T* odata, const T* idata, int width, int height)              \
        {                                                                             \
            launcher(odata, idata, width, height);                                    \
        }                                                                             \
    };                                                                                \
    static const backend::Registration<kernel##_pass> kernel##_registration(          \
        backend::name, #kernel, row, __FILE__, produces);
