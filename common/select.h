// Which kernels of the program a command line asks for.

#pragma once

#include <string>
#include <vector>

#include "bench.h"

namespace harness {

struct Selection {
    std::vector<std::string> kernels;  // by name, row or letter of a source; empty: the lesson's
    bool all = false;                  // the variants, too
    std::vector<Block> blocks;         // empty: each kernel's own
    bool messages_only = false;        // of several processes, which do not share memory
};

// The kernels of one back end that are asked for, one Contender for each block shape.
std::vector<Contender> select(const std::string& backend, const Selection& selection);

// Throws status_bad_input if the program does not have a kernel that is named, or no block applies.
void check_names(const Selection& selection);

// Contenders whose matrices are of one layout, group by group.
std::vector<std::vector<Contender*>> by_layout(std::vector<Contender>& contenders);

}  // namespace harness
