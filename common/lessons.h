// The list of lessons: lessons.csv. A new step is a folder and a row there.

#pragma once

#include <string>

namespace harness {

// The idea of a lesson's kernel, in a line; empty for other kernels.
std::string idea_of(const std::string& kernel);

}  // namespace harness
