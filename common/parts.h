// How a matrix is spread over several GPUs: each has some of its rows.

#pragma once

#include "reference.h"

namespace harness {

constexpr int MAX_GPUS = 16;

// n rows are spread evenly. Those of GPU g begin here, and end where those of the next begin.
HOST_DEVICE inline int first_row(int n, int g, int gpus) { return int((long long)n * g / gpus); }

// Where each GPU's rows of a matrix lie.
template <typename T>
struct Parts {
    T* part[MAX_GPUS];
};

}  // namespace harness
