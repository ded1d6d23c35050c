// --machines: the program runs once for each machine, and a table has the modelled times.
//
// Counts depend on the machine, so each has a process of its own, one after another. It is forked before anything of
// the program has run, and goes on as the program. At its end, it leaves the modelled times to its parent, which never
// runs the program itself.

#pragma once

namespace sim {

// Returns in a child, for the program to begin. The parent prints the table and ends, with the worst status. Throws
// Error with status_bad_input if files cannot be written, before any child.
void run_on_each_machine();

// Leaves the modelled times to the parent, if there is one.
void write_models();

}  // namespace sim
