// The parts of a run that are reported: the kernels of --kernel, and the kinds of findings of --tool.

#pragma once

#include <string>

#include "../../common/base/finding.h"

namespace sim {

// True if findings of that kind are reported.
bool reported(const harness::FindingKind& kind);

// True if launches of the kernel are reported. A name fits as a whole, with or without its template arguments.
bool reported_kernel(const std::string& name);

// A note on the findings that --tool leaves out; empty: none are.
std::string tools_note();

}  // namespace sim
