// The counts as --csv and --json write them: one list of names and values for both.

#pragma once

#include <string>
#include <vector>

#include "kernels.h"

namespace sim {

struct Value {
    const char* name;
    std::string text;
    bool number = true;
};

// The counts of a kernel in one shape.
std::vector<Value> launch_values(const Launches& launches);
// The counts of one of its accesses.
std::vector<Value> access_values(const harness::AccessSite& site);

}  // namespace sim
