// Markers of loops.

#pragma once

#include <vector>

#include "edits.h"
#include "syntax.h"

namespace rewrite {

class Loops {
public:
    Loops(const Source& source, Edits& edits) : source_(source), edits_(edits) {}

    // Marks the loop of this keyword. Its body begins behind `head_end`. `gotos`: those of the function.
    void mark(int keyword, int head_end, const std::vector<int>& gotos);

private:
    const Source& source_;
    Edits& edits_;
    int number_ = 0;  // of the last loop
};

}  // namespace rewrite
