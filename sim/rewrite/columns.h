// Columns: where in the source the columns of the rewritten text come from.
//
// Interface: column_table() writes them as a string of C in the section sim_columns, for sim/elf/columns.cpp.

#pragma once

#include <string>

#include "edits.h"
#include "tokens.h"

namespace rewrite {

// `pieces`: of the text that was made of the source.
std::string column_table(const Source& source, const std::string& out, const std::vector<TextPiece>& pieces);

}  // namespace rewrite
