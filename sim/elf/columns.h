// Columns of the source, by those of the text that the compiler saw.

#pragma once

#include <string>

namespace sim {

// 0 if it is unknown: `make try` notes the columns (sim/rewrite/columns.cpp), other builds do not. `path`: whole.
int source_column(const std::string& path, int line, int column);

}  // namespace sim
