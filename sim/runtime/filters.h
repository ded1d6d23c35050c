// What of a run is reported: the kernels of --kernel, and the kinds of findings of --tool.

#pragma once

#include <string>

#include "../core/findings.h"

namespace sim {

// The kinds of findings, by the tools of compute-sanitizer that look for them.
enum class Tool : unsigned {
    memcheck = 1,   // accesses to memory, calls of the runtime, errors that nobody looked at
    racecheck = 2,  // two accesses that nothing orders
    initcheck = 4,  // memory that is read before it is written
    synccheck = 8,  // barriers and waits
    any = 15,       // what the simulator cannot run: it is reported with every tool
};

// The tools that a list such as "memcheck,racecheck" or "all" names, as a sum of Tool. Throws Error with
// status_bad_input.
unsigned tools_named(const std::string& list);

Tool tool_of(Fault fault);

// True if findings of that kind are reported.
bool reported(Tool tool);

// Throws Error with status_bad_input if the text is no regular expression.
void check_kernel_pattern(const std::string& pattern);

// True if launches of the kernel are reported. A name fits as a whole, with or without its template arguments.
bool reported_kernel(const std::string& name);

// What --tool leaves out, for a note; empty: nothing.
std::string tools_note();

}  // namespace sim
