#pragma once
#pragma GCC system_header

#include "sim/vectors.h"
