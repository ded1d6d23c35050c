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

// Of a kernel in one shape.
std::vector<Value> launch_values(const Launches& launches);
// Of one of its accesses.
std::vector<Value> access_values(const harness::AccessSite& site);

}  // namespace sim
