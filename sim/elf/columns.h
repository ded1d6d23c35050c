// Columns of the source, by those of the text that the compiler saw.

#pragma once

#include <string>

namespace sim {

// The column in the source; 0 if it is unknown. `make try` notes the columns (sim/rewrite/columns.cpp), other builds do
// not. `path`: from the root.
int source_column(const std::string& path, int line, int column);

}  // namespace sim
