// The launcher of a program that has the CUDA runtime: what is done before and after each launch.

#pragma once

namespace sim {

// From now on, this launcher gets the launches of the program.
void use_program_launcher();

}  // namespace sim
