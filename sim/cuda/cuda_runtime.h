// CUDA C++, as far as the simulator has it. Every program includes this first.

#pragma once
#pragma GCC system_header

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// nvcc's own version, which programs ask for to choose between functions of the language.
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#endif

#include "sim/language.h"
#if defined __CUDACC__ || defined SIMULATOR
#include "sim/heap.h"
#include "sim/numbers.h"
#include "sim/nv_atomics.h"
#include "sim/packed.h"
#endif

#if __has_include("cuda_runtime_api.h")
#include "cuda_runtime_api.h"
#endif
