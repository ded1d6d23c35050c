// Functions that the compiler inlined.

#pragma once

#include <cstdint>
#include <vector>

namespace sim {

// Code of a function that was inlined, and where it was called.
struct Inlined {
    uint64_t begin, end;  // as in the file
    uint64_t file, line, column;
    uint64_t function;      // its entry
    bool implicit = false;  // the compiler has written the function: it copies an object
};

// The inlined functions of the unit that a line table belongs to, outer ones before inner ones.
const std::vector<Inlined>& inlined_in(uint64_t line_table);

}  // namespace sim
