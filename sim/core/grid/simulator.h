// The simulator as the host sees it.

#pragma once

#include "../block/host_access.h"
#include "../memory/matrices.h"
#include "../memory/memory.h"
#include "grid.h"
#include "launcher.h"
#include "variables.h"
