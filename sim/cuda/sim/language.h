// CUDA C++ without what costs a compiler the most to read: <math.h>, the heap of kernels, packed numbers, and the
// functions of the host. The kernels of the steps need no more, and compile in two thirds of the time. A kernel that
// does includes <cuda_runtime.h>, as CUDA's own programs may.

#pragma once
#pragma GCC system_header

// The harness's headers, which launch.h includes, are host code.
#pragma push_macro("__CUDACC__")
#undef __CUDACC__
#include "../../core/hooks/launch.h"
#pragma pop_macro("__CUDACC__")
#include "vectors.h"
// A .cpp file of the program, which is plain C++: to it, nvcc does not show the functions of kernels, either.
#if defined __CUDACC__ || defined SIMULATOR
#include "atomics.h"
#include "barriers.h"
#include "integers.h"
#include "memory.h"
#include "min_max.h"
#include "warps.h"
#endif
