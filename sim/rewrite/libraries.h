// Libraries of the CUDA Toolkit, and others, that the simulator does not have.
//
// A program may include their headers: it gets empty ones. It is refused where it calls or names something of the
// library, other than a type or a constant. Those are declared for it, because many programs have a helper for a
// library that they do not call.

#pragma once

#include <string>

#include "tokens.h"

namespace rewrite {

// Why the library of a header is not there, and what to write instead; empty for a header of no such library.
std::string why_not(const std::string& header);

// Writes an empty header of that name into a folder. False if it belongs to no such library, is there already or cannot
// be written.
bool add_header(const std::string& folder, const std::string& header);

// The types and constants of libraries that a program names, as declarations.
struct LibraryNames {
    int at = 0;  // the token that they go in front of; 0: there are none
    std::string text;
};
// `folder`: that of add_header(). Throws Refusal at the first name that is no type and no constant.
LibraryNames library_names(const Source& source, const std::string& folder);

}  // namespace rewrite
