// The older name of nvtx3/nvToolsExtCuda.h.

#pragma once

#include "nvtx3/nvToolsExtCuda.h"
