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
// that is spread over several GPUs (parts.h), as is (T* odata, Parts<const T> idata, ...). It is called for
// each GPU, and launches the pass of GPU `me`.
//
//   TOGETHER(kernel, role, needs, produces, launcher)
//       for what the GPUs of a process enqueue together (exchange.h): the launcher is a function template
//       (Exchange& exchange, Parts<T> odata, Parts<const T> idata, int width, int height). role: variant or
//       bound; needs: peers or messages.
//
//   BLOCK_KERNEL(kernel, row, produces, launcher, x, y)
//       for a kernel that works with blocks of any shape: the launcher takes a last argument,
//       dim3 block, which is x by y threads unless --block says otherwise.
//   SERIAL(function, row, produces)
//       for a function of the CPU, (T* odata, const T* idata, int width, int height), in a .cpp file.
//   TRANSFER(name, row, way, pinned)
//       for a copy between the host's memory and the device's: to_device or to_host.
//   ERRATUM(name, id).published_in(source).caught_by(finding).corrected_by(name)....story(text);
//       for the gallery of published faults (harness::ErratumEntry): of a kernel, or of a function of the CPU. Their
//       row is the erratum's id, as in KERNEL(name, "E7", ...), which keeps them out of --all.

#pragma once

#include <cstddef>

#include "kernel.h"

#ifdef SIMULATOR
#include "../sim/cuda/sim/language.h"
#define BACKEND "sim"
#elif defined __CUDACC__
#define BACKEND "cuda"
#else
#include "base/machine.h"  // conclusions from figures want the cards' limits, and what times come to
#include "base/statistics.h"
#define BACKEND ""
struct alignas(16) double2 { double x, y; };  // as CUDA has it
#endif

// The types that kernels are compiled for, one for each harness::Type. Kernels move a half, and need not know what it
// means.
#ifndef ELEMENT_TYPES
#define ELEMENT_TYPES char, unsigned short, float, double, int, double2
#endif

using harness::adds;
using harness::adds_first;
using harness::copies;
using harness::copies_to_peers;
using harness::Exchange;
using harness::first_row;
using harness::MAX_GPUS;
using harness::moves_each_tile;
using harness::Parts;
using harness::Piece;
using harness::transposes;
using harness::transposes_each_tile;
using harness::transposes_numbers;
using harness::transposes_repeatedly;
using harness::transposes_with_padded_rows;
using harness::writes_nothing;

#define NAMED(kernel, row, backend, ...) (harness::Named{#kernel, row, backend, __FILE__, __VA_ARGS__})

// Defines a struct with the pass and the members that come last among the arguments, and registers it.
#define REGISTER(kernel, named, produces, block_shape, pass, ...)                                                \
    struct kernel##_pass {                                                                                       \
        static constexpr harness::Expected expected = produces;                                                  \
        template <typename T>                                                                                    \
        static void run(T* odata, const T* idata, int width, int height, [[maybe_unused]] harness::Block block)  \
        {                                                                                                        \
            pass;                                                                                                \
        }                                                                                                        \
        __VA_ARGS__                                                                                              \
    };                                                                                                           \
    static const harness::Registration<kernel##_pass, ELEMENT_TYPES> kernel##_registration(named, block_shape);

// A pass on several GPUs. It exists for the arguments that the launcher takes, which may name T: launch<T>.
#define CALLS(launcher)                                                                                          \
    template <typename T, typename... Given>                                                                     \
    static auto call(Given&&... given) -> decltype(launcher(static_cast<Given&&>(given)...))                     \
    {                                                                                                            \
        launcher(static_cast<Given&&>(given)...);                                                                \
    }

#define KERNEL(kernel, row, produces, launcher)                                                                  \
    REGISTER(kernel, NAMED(kernel, row, BACKEND, ), produces, harness::Block(),                                  \
             launcher(odata, idata, width, height), CALLS(launcher))

#define TOGETHER(kernel, role, needs, produces, launcher)                                                        \
    REGISTER(kernel, NAMED(kernel, "-", BACKEND, harness::Role::role == harness::Role::bound,                    \
                           harness::Needs::needs),                                                               \
             produces, harness::Block(), , CALLS(launcher))

#define BLOCK_KERNEL(kernel, row, produces, launcher, threads_x, threads_y)                                      \
    REGISTER(kernel, NAMED(kernel, row, BACKEND, ), produces, (harness::Block{threads_x, threads_y}),            \
             launcher(odata, idata, width, height, dim3(block.x, block.y)), )

#define SERIAL(function, row, produces)                                                                          \
    REGISTER(function, NAMED(function, row, "cpu", ), produces, harness::Block(),                                \
             function(odata, idata, width, height), )

#define TRANSFER(transfer, row, way, pinned)                                                                     \
    static const harness::TransferRegistration transfer##_registration(                                          \
        harness::Named{#transfer, row, BACKEND, __FILE__}, harness::Transfer{harness::Transfer::way, pinned});

#define ERRATUM(name, id) \
    static const harness::ErratumRegistration name##_##id = harness::ErratumEntry(BACKEND, #id, #name)
