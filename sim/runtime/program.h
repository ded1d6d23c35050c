// The life of a program that runs on the simulator unchanged, from before its main to after its exit.

#pragma once

namespace sim {

// Prints the report and writes the files, if that has not been done. Returns the exit status, where `status` is the
// program's own. `signal`: the one that ends the program, which then writes no files; 0: none.
int finish_program(int status, int signal = 0);

// True in a process that the program has made by fork(). It has no report.
bool in_child();

}  // namespace sim
