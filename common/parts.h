// How a matrix is spread over several GPUs: each has some of its rows.

#pragma once

#include "reference.h"

namespace harness {

constexpr int MAX_GPUS = 16;

// Where each GPU's rows of a matrix lie.
template <typename T>
struct Parts {
    T* part[MAX_GPUS];
};

}  // namespace harness
