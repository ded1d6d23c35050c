// Names of kernels, as the simulator, compilers and Nsight Compute write them.

#pragma once

#include <string>

namespace sim {

// void k<float>(float*, int) is k<float>.
std::string without_types(std::string name);

// A name in one spelling: void k<(int)32, const float *>(T2 *), k<32, float const*> and _Z1kILi32EPKfEvT0_ are
// k<32,float*>. Where ncu leaves out the types, so does the spelling.
std::string common_spelling(const std::string& kernel);

// k of k<32,float*>.
std::string without_template_arguments(const std::string& spelling);

}  // namespace sim
