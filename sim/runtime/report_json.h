// --json: the counts and the findings of a program, for other programs. docs/OUTPUT.md lists the members.

#pragma once

#include <string>

namespace sim {

std::string report_json();

}  // namespace sim
