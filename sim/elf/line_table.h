// Line tables: which line and column each instruction comes from.

#pragma once

#include <cstdint>
#include <filesystem>

#include "dwarf.h"

namespace sim {

// A line table: of a translation unit, or of a part of one.
struct Unit {
    uint64_t offset = 0;
    Reader names;  // the tables of folders and files, read when they are needed
    unsigned step = 1, line_range = 1, opcode_base = 1;
    int line_base = 0;
    std::string_view operands;  // how many each standard opcode has, from the first on
};

struct LineRow {
    uint64_t address;  // as in the file; the row holds from here on, until the next
    uint32_t line, column, file;
};

// The row of an address in the file, its line 0 if there is none; then, `unit` is not set.
LineRow row_at(uint64_t address, const Unit*& unit);

// The path of a file of the unit, and of the folder where the unit was compiled; empty if it is unknown.
std::filesystem::path file_name(const Unit& unit, uint64_t number);
std::filesystem::path folder_of(const Unit& unit);

}  // namespace sim
