// Is a result right, and if not, what happened?

#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "device.h"

namespace harness {

// Tells what is wrong with a matrix that does not compare: how many elements differ, where the
// first one is, what was expected there, what was found and, if it is an input element in the
// wrong place, where it came from.
FindingRecord describe(Device& device, const Region& matrix, const Mismatch& mismatch);

// A matrix row by row, with the number of the input element that is found in each place; ? where it is none.
struct Numbered {
    std::vector<std::vector<std::string>> rows;
    int cell_width = 0;  // of a column as text

    std::string text() const;
};
Numbered numbered(Device& device, const Region& matrix);

// The index of the input element with this bit pattern, the first if there are several, or `elements` if there is none.
// `finite`: the elements are finite numbers, of which up to four share one pattern.
uint64_t origin(uint128_t bits, Type type, uint64_t elements, uint32_t seed, bool finite = false);

}  // namespace harness
