// Libraries of the CUDA Toolkit, and others, that the simulator does not have.
//
// A program may include their headers: it gets empty ones, and the types, constants and functions that it names are
// declared for it. A function that only prepares, such as cublasCreate, does nothing. One that computes ends the
// program when it is reached, because what follows would be wrong. A program is refused at once where it names
// something else, such as a namespace or a function of kernels.

#pragma once

#include <string>

#include "tokens.h"

namespace rewrite {

// Why the library of a header is not there, and what to write instead; empty for a header of no such library.
std::string why_not(const std::string& header);

// Writes an empty header of that name into a folder. False if it belongs to no such library, is there already or cannot
// be written.
bool add_header(const std::string& folder, const std::string& header);

// Declarations of the names of libraries that a program uses.
struct LibraryNames {
    int at = 0;  // the token that they go in front of; 0: there are none
    std::string text;
};
// `folder`: that of add_header(). Throws Refusal at the first name that cannot be declared.
LibraryNames library_names(const Source& source, const std::string& folder);

}  // namespace rewrite
