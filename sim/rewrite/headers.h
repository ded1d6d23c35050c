// Headers of the CUDA Toolkit that the simulator does not have.

#pragma once

#include <string>

#include "tokens.h"

namespace rewrite {

// Thrown where a preprocessed text has a header of a library that the simulator does not have. `header`: as the program
// includes it.
struct LibraryHeader {
    Refusal refusal;
    std::string header;
};

// Throws LibraryHeader, or Refusal, where a preprocessed text has headers of an installed CUDA Toolkit: they declare
// again what the simulator's declare. `c`: the text is C, which the simulator has no headers of CUDA for. `added`: the
// folder of add_header(), or empty. `own`: the folder of the simulator's headers.
void check_headers(const std::string& text, bool c, const std::string& added, const std::string& own);

// The errors of a preprocessor, if the first of them is that such a header is not found. `why`: one line, FILE:LINE:
// what is wrong.
struct MissingHeader {
    std::string header, why;
};
MissingHeader find_missing(const std::string& errors, bool c);

}  // namespace rewrite
