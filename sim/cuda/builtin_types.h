// CUDA's types, under another of their names.

#pragma once

#include "driver_types.h"
