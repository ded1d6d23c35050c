// Headers of the CUDA Toolkit that the simulator does not have.

#pragma once

#include <string>

namespace rewrite {

// Why a header cannot be included, and what to write instead; empty for one that is not CUDA's.
std::string why_not(const std::string& header);

// Throws Refusal where a preprocessed text has headers of an installed CUDA Toolkit: they declare again what the simulator's declare.
// `c`: the text is C, which the simulator has no headers of CUDA for.
void check_headers(const std::string& text, bool c);

// The errors of a preprocessor as one line, FILE:LINE: what is wrong, if the first of them is that such a header is not
// found; otherwise empty.
std::string explain_missing(const std::string& errors, bool c);

}  // namespace rewrite
