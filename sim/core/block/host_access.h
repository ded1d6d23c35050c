// Accesses to the matrices by the host, while a launcher of the harness runs: the matrices are the device's.

#pragma once

#include <vector>

#include "../sinks/faults.h"
#include "../lanes/access.h"

namespace sim {

void look_at_host(const Access& access);
// Faults of such accesses since the last call.
std::vector<Fault> take_host_faults();

}  // namespace sim
