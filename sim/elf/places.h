// Where in the source a call lies, by the address that it returns to, from the program's own debug information (DWARF
// 5). Without it, places are unknown.

#pragma once

#include <cstdint>
#include <string>

namespace sim {

struct Place {
    std::string file;  // as seen from start_folder(), printable; empty if unknown
    std::string path;  // of the file, from the root
    int line = 0, column = 0;  // the column is that of the rewritten text
    std::string text;  // of that line, trimmed and printable; empty if the file cannot be read
    bool in_library = false;  // the file belongs to the simulator, to the C++ library or to the system
};

Place place_of(uint64_t return_address);

// The current folder at the first call of this function or of place_of(); empty if unknown.
const std::string& start_folder();

// The line and the column alone, 0 if unknown, and a number, equal for two addresses if and only if they return from
// the same place of one function: compilers copy calls. Each address of an unknown place has its own.
struct Spot {
    int line = 0, column = 0;
    uint32_t number = 0;
};
Spot spot_of(uint64_t return_address);  // remembered

inline int line_of(uint64_t return_address) { return spot_of(return_address).line; }
inline uint32_t place_number(uint64_t return_address) { return spot_of(return_address).number; }

// True if the first stands before the second in the source of one function.
inline bool before(uint64_t return_address_a, uint64_t return_address_b)
{
    const Spot a = spot_of(return_address_a), b = spot_of(return_address_b);
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

}  // namespace sim
