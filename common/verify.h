// Is a result right, and if not, what happened?

#pragma once

#include <string>

#include "device.h"

namespace harness {

// Compares every element of `matrix` on the device with `contents`. Empty if all are equal;
// otherwise says how many differ, where the first one is, what was expected there, what was
// found, and, if a kernel put it in the wrong place, where it came from.
std::string fault(Device& device, const void* matrix, Type type, const Contents& contents);

// The index of the input element with this bit pattern, or `elements` if there is none.
uint64_t origin(uint64_t bits, Type type, uint64_t elements, uint32_t seed);

}  // namespace harness
