#pragma once
#pragma GCC system_header

// In plain C++, the toolkit's header is empty, too.
#if defined __CUDACC__ || defined SIMULATOR
#include "sim/groups.h"
#endif
