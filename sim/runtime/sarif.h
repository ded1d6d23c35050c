// --sarif: the findings of a program in the Static Analysis Results Interchange Format 2.1.0, which code reviews show
// at the line.

#pragma once

#include <string>

namespace sim {

std::string sarif_text();

}  // namespace sim
