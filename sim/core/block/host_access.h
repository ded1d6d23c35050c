// Accesses to the matrices by the host, while a launcher of the harness runs: the matrices are the device's.

#pragma once

#include <vector>

#include "../findings/findings.h"
#include "../lanes/access.h"

namespace sim {

void look_at_host(const Access& access);
// Findings on such accesses since the last call.
std::vector<Finding> take_host_findings();

}  // namespace sim
