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
Finding describe(Device& device, const Region& matrix, const Mismatch& mismatch);

// A matrix row by row, with the number of the input element that is found in each place; ? where it is none.
struct Numbered {
    std::vector<std::vector<std::string>> rows;
    int cell_width = 0;  // of a column as text

    std::string text() const;
};
Numbered numbered(Device& device, const Region& matrix);

// The index of the element of idata with this bit pattern, the first if there are several, or their number if there is
// none. It looks at one after another: this is asked once for a wrong result.
uint64_t origin(const Contents& contents, uint128_t bits);

}  // namespace harness
