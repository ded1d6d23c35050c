// cudaProfilerStart() and cudaProfilerStop(), which do nothing here.

#pragma once

#include "cuda_runtime_api.h"
