#include "host_access.h"

#include <utility>

#include "../memory/memory.h"

namespace sim {
namespace {

Faults host_faults;

}  // namespace

void look_at_host(const Access& access)
{
    const Allocation* target = memory().find(access.address);
    if (!target || !(target->unwritten || target->read_only)) return;
    Fault fault(kinds::host_access, without_turn(access.site), 0);
    fault.memory = target->name;
    fault.offset = int64_t(access.address - target->begin);
    host_faults.add(fault);
}

std::vector<Fault> take_host_faults() { return std::exchange(host_faults.list, {}); }

}  // namespace sim
