// The elements that a matrix must have, many at a time, on the host.

#pragma once

#include <cstdint>

#include "../reference.h"

namespace harness {

// Writes the bits of `count` elements, from this one on. Bits: an unsigned integer as wide as an element. They are
// those that contents.at() has, one by one.
template <typename Bits>
void write_elements(const Contents& contents, uint64_t first, uint64_t count, Bits* to);

}  // namespace harness
