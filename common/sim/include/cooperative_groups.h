#pragma once
#pragma GCC system_header

#include "sim/groups.h"
