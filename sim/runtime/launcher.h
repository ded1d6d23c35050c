// The launcher of a program that has the CUDA runtime: what is done before and after each launch.

#pragma once

namespace sim {

// From now on, it gets what the program launches.
void use_program_launcher();

}  // namespace sim
