// The kernels of a program: --list.

#pragma once

#include <string>

namespace harness {

// A line for each kernel under a heading, the lesson's first. Columns are wide enough for every kernel of every step:
// `make list` puts the lists one below the other.
std::string list_text();

// The same list for programs, as CSV: step, kernel, part, on, produces, source_rows, and the idea of a lesson
// (lessons.h).
std::string list_csv();

}  // namespace harness
