#include "host_access.h"

#include <utility>

#include "../memory/memory.h"

namespace sim {
namespace {

Findings host_findings;

}  // namespace

void look_at_host(const Access& access)
{
    const Allocation* target = memory().find(access.address);
    if (!target || !(target->unwritten || target->read_only)) return;
    Finding finding(kinds::host_access, without_turn(access.site), 0);
    finding.memory = target->name;
    finding.offset = int64_t(access.address - target->begin);
    host_findings.add(finding);
}

std::vector<Finding> take_host_findings() { return std::exchange(host_findings.list, {}); }

}  // namespace sim
