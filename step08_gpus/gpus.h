// What the files of this step share: how a matrix is spread over GPUs, and what a transpose of it is given.

#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "../common/base/error.h"
#include "../common/parts.h"

using harness::first_row;
using harness::MAX_GPUS;
using harness::Parts;

#define CUDA(call) succeed(call, #call, __FILE__, __LINE__)

// Throws status_no_device, naming the call and its place, unless `call` succeeded.
inline void succeed(cudaError_t status, const char* call, const char* file, int line)
{
    if (status == cudaSuccess) return;
    throw harness::Error{harness::status_no_device, harness::format("%s:%d: %s: %s", file, line, call, cudaGetErrorString(status))};
}

struct Messages;  // messages.h

// One transpose: idata has height rows of width elements, odata has width rows of height elements. Both are spread by rows.
template <typename T>
struct Exchange {
    Parts<T> odata;
    Parts<const T> idata;
    int width, height, gpus;
    std::vector<int> mine;          // the GPUs that this process drives: all, or one of several processes' GPUs
    int device[MAX_GPUS];           // of those: the number that CUDA has for each
    cudaStream_t stream[MAX_GPUS];  // of those: where the work begins and ends
    Messages* messages;             // null where there is no NCCL
};

// A way to transpose. What it enqueues on stream[g] of each of its GPUs is complete when all of them are done.
struct Way {
    const char* name;
    enum Part { lesson, variant, bound } part;  // bound: moves what must cross, and transposes nothing
    enum Needs { peers, messages } needs;       // the memory of other GPUs, or NCCL
    void (*on_floats)(const Exchange<float>&);
    void (*on_doubles)(const Exchange<double>&);

    void operator()(const Exchange<float>& e) const { on_floats(e); }
    void operator()(const Exchange<double>& e) const { on_doubles(e); }
};

inline std::vector<Way>& ways()
{
    static std::vector<Way> all;
    return all;
}

// WAY(kernel, part, needs, launcher): the launcher is a function template (const Exchange<T>&).
#define WAY(kernel, part, needs, launcher) \
    static const bool kernel##_registered = (ways().push_back({#kernel, Way::part, Way::needs, launcher<float>, launcher<double>}), true);
