// The records of the program (declared.h), as the simulator asks for them.

#pragma once

#include <vector>

#include "declared.h"

namespace sim {

struct Symbol;

// The variables of the device that were added after `known`, which was the first of the list then. They are sorted by
// kind and by name, because compilers lay them out in different orders.
std::vector<const Declared*> device_variables(const Declared* known = nullptr);

// True if the record stands in the function, or in a lambda inside it.
bool declared_in(const Declared& record, const Symbol& function);

// The threads that __launch_bounds__ allows a block of the kernel; 0: it has none, or the kernel is not known.
unsigned launch_bound(const void* kernel);

}  // namespace sim
