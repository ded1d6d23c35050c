// The matrices of the harness, in the table of memory.

#pragma once

#include <cstdint>
#include <vector>

#include "memory.h"

namespace sim {

// A GPU's rows of both matrices; or all of them.
struct PartOfMatrices {
    const void* idata;
    uint64_t idata_bytes;
    void* odata;
    uint64_t odata_bytes;
    uint64_t first_element = 0;  // of odata
};

// The next launches may load from idata, store to odata, and access nothing else but the variables that are declared
// for the device. In the GPU's memory, odata begins on the page of 2 MB behind idata. If there are several parts, each
// lies in the memory of its own device. `unwritten`: tells which elements of odata were not stored to yet; it may be
// null. Without parts, the launches have no matrices.
void use_matrices(const std::vector<PartOfMatrices>& parts, const Unwritten* unwritten = nullptr);

// odata of the next launches, or that of the first device, or null.
const Allocation* output_matrix();

}  // namespace sim
