// Filters of system calls, for processes that run code that nobody has read. If the operating system has no filters,
// nothing changes.

#pragma once

namespace sim {

// From now on, this process makes no call of the system but those that computing needs.
void allow_computing_only();

// From now on, this process starts no program, writes to no other file than those that are open, and reaches no other
// process's memory.
void forbid_writing_elsewhere();

}  // namespace sim
