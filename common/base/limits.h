// How much of the machine this process may take: a container or a batch system often allows less than there is.

#pragma once

#include <cstdint>
#include <string>

namespace harness {

// Bytes that the host can give: what the kernel estimates, or less where a control group has a limit.
uint64_t available_memory();

// Bytes that the control groups leave; the largest uint64_t where none has a limit.
// `groups`: the text of /proc/self/cgroup. `root`: where the groups' folders are, /sys/fs/cgroup.
uint64_t left_in_groups(const std::string& groups, const std::string& root);

// Bytes of addresses that this process may have (ulimit -v); the largest uint64_t where there is no limit.
uint64_t address_limit();

// Processors that this process may run on; at least 1.
int usable_processors();

}  // namespace harness
