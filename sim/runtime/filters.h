// The parts of a run that are reported: the kernels of --kernel, and the kinds of findings of --tool.

#pragma once

#include <string>

#include "../../common/base/finding.h"

namespace sim {

// The tools that a list such as "memcheck,racecheck" or "all" names: bit i is the i-th of memcheck, racecheck,
// initcheck and synccheck. Throws Error with status_bad_input.
unsigned tools_named(const std::string& list);
constexpr unsigned all_tools = 15;

// True if findings of that kind are reported.
bool reported(const harness::FindingKind& kind);

// Throws Error with status_bad_input if the text is no regular expression.
void check_kernel_pattern(const std::string& pattern);

// True if launches of the kernel are reported. A name fits as a whole, with or without its template arguments.
bool reported_kernel(const std::string& name);

// A note on the findings that --tool leaves out; empty: none are.
std::string tools_note();

}  // namespace sim
