// The one header a step includes. It makes the same kernel source work on both back ends:
// nvcc compiles it for the GPU, any other C++ compiler for the simulator.
//
//   KERNEL(kernel, row, produces, launcher)         registers the kernel with the program
//
// `launcher` is a function template (T* odata, const T* idata, int width, int height) that
// launches one pass over a height x width matrix; `produces` is what must be in odata
// afterwards: copies, transposes, transposes_each_tile(TILE), moves_each_tile(TILE) or another
// of common/reference.h; `row` is the kernel's row in the table of sources (README.md).
// A launcher (Parts<T> odata, const T* idata, int width, int height, int me, int gpus) is for a matrix
// that is spread over several GPUs (parts.h). It is called for each GPU, and launches the pass of GPU `me`.
//
//   BLOCK_KERNEL(kernel, row, produces, launcher, x, y)
//       for a kernel that works with blocks of any shape: the launcher takes a last argument,
//       dim3 block, which is x by y threads unless --block says otherwise.
//   SERIAL(function, row, produces)
//       for a function of the CPU, (T* odata, const T* idata, int width, int height), in a .cpp file.
//   TRANSFER(name, row, way, pinned)
//       for a copy between the host's memory and the device's: to_device or to_host.
//   ERRATUM(kernel, id, source, produces, launcher, caught_by, corrected, width, height, story)
//   ERRATUM_OF(kernel, id, source, caught_by, corrected, width, height, story)
//   SERIAL_ERRATUM(function, id, source, produces, caught_by, corrected, width, height, story)
//   CHECK_ERRATUM(check, id, source, produces, caught_by, corrected, width, height, story)
//   METHOD_ERRATUM(method, id, source, caught_by, corrected, story)
//       for the gallery of published faults (harness::Erratum): a kernel, one that is registered
//       already, a function of the CPU, a check of a result, bool (const float* odata, const float* idata, int width, int height),
//       or a way to draw conclusions from figures, std::string (): what is wrong with it.

#pragma once

#include <cstddef>

#include "kernel.h"

#ifdef SIMULATOR
#include "../sim/cuda/cuda_runtime.h"
#define BACKEND "sim"
#elif defined __CUDACC__
#define BACKEND "cuda"
#else
#include "base/machine.h"  // conclusions from figures want the cards' limits, and what times come to
#include "base/statistics.h"
#define BACKEND ""
struct alignas(16) double2 { double x, y; };  // as CUDA has it
#endif

// What kernels are compiled for, one for each harness::Type. They move a half, and need not know what it means.
#ifndef ELEMENT_TYPES
#define ELEMENT_TYPES char, unsigned short, float, double, int, double2
#endif

using harness::adds;
using harness::adds_first;
using harness::copies;
using harness::first_row;
using harness::MAX_GPUS;
using harness::moves_each_tile;
using harness::Parts;
using harness::transposes;
using harness::transposes_each_tile;
using harness::transposes_numbers;
using harness::transposes_repeatedly;
using harness::transposes_with_padded_rows;
using harness::writes_nothing;

#define REGISTER_PASS(kernel, backend_name, row, part, produces, block_shape, pass) \
    REGISTER_PASSES(kernel, backend_name, row, part, produces, block_shape, pass, )

#define REGISTER_PASSES(kernel, backend_name, row, part, produces, block_shape, pass, pass_on_parts)           \
    struct kernel##_pass {                                                                                     \
        static constexpr harness::Expected expected = produces;                                                \
        template <typename T>                                                                                  \
        static void run(T* odata, const T* idata, int width, int height, [[maybe_unused]] harness::Block block) \
        {                                                                                                      \
            pass;                                                                                              \
        }                                                                                                      \
        pass_on_parts                                                                                          \
    };                                                                                                         \
    static const harness::Registration<kernel##_pass, ELEMENT_TYPES> kernel##_registration(backend_name, #kernel, row, part, __FILE__, block_shape);

// Of the two passes, the compiler makes the one that the launcher is for.
#define KERNEL(kernel, row, produces, launcher)                                                                               \
    REGISTER_PASSES(kernel, BACKEND, row, harness::part_of(__FILE__), produces, harness::Block(),                             \
                    launcher(odata, idata, width, height),                                                                    \
                    template <typename T> static auto run_on_parts(Parts<T> odata, const T* idata, int width, int height, int me, int gpus) \
                        -> decltype(launcher(odata, idata, width, height, me, gpus)) { launcher(odata, idata, width, height, me, gpus); })

#define BLOCK_KERNEL(kernel, row, produces, launcher, threads_x, threads_y)                                                           \
    REGISTER_PASS(kernel, BACKEND, row, harness::part_of(__FILE__), produces, \
                  (harness::Block{threads_x, threads_y}), launcher(odata, idata, width, height, dim3(block.x, block.y)))

#define SERIAL(function, row, produces)                                                                      \
    REGISTER_PASS(function, "cpu", row, harness::part_of(__FILE__), produces, harness::Block(), \
                  function(odata, idata, width, height))

#define TRANSFER(transfer, row, way, pinned) \
    static const harness::TransferRegistration transfer##_registration(BACKEND, #transfer, row, __FILE__, {harness::Transfer::way, pinned});

#define ERRATUM(kernel, id, source, produces, launcher, caught_by, corrected, columns, rows, story)                    \
    REGISTER_PASS(kernel, BACKEND, id, harness::Part::faulty, produces,    \
                  harness::Block(), launcher(odata, idata, width, height))                                             \
    static const harness::ErratumRegistration kernel##_erratum(                                                        \
        BACKEND, {id, source, #kernel, caught_by, corrected, columns, rows, story, produces, nullptr, nullptr, nullptr, nullptr});

#define ERRATUM_OF(kernel, id, source, caught_by, corrected, columns, rows, story)                                     \
    static const harness::ErratumRegistration kernel##_##id(                                                           \
        BACKEND, {#id, source, #kernel, caught_by, corrected, columns, rows, story, {}, nullptr, nullptr, nullptr, nullptr});

#define SERIAL_ERRATUM(function, id, source, produces, caught_by, corrected, columns, rows, story)                     \
    REGISTER_PASS(function, "cpu", id, harness::Part::faulty, produces, harness::Block(),         \
                  function(odata, idata, width, height))                                                               \
    static const harness::ErratumRegistration function##_erratum(                                                      \
        BACKEND, {id, source, #function, caught_by, corrected, columns, rows, story, produces, nullptr, nullptr, nullptr, nullptr});

#define CHECK_ERRATUM(check, id, source, produces, caught_by, corrected, columns, rows, story)                         \
    static const harness::ErratumRegistration check##_erratum(                                                         \
        BACKEND, {id, source, #check, caught_by, #corrected, columns, rows, story, produces, check, corrected, nullptr, nullptr});

#define METHOD_ERRATUM(method, id, source, caught_by, corrected, story)                                                \
    static const harness::ErratumRegistration method##_erratum(                                                        \
        BACKEND, {id, source, #method, caught_by, #corrected, 0, 0, story, {}, nullptr, nullptr, method, corrected});
