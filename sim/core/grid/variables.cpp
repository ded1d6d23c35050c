#include "variables.h"

#include <memory>
#include <utility>

#include "../memory/declared_list.h"
#include "../memory/memory.h"
#include "../sinks/global_checker.h"

namespace sim {

void add_device_variables(bool exact)
{
    static const Declared* known = nullptr;
    static uint64_t at = uint64_t(1) << 40;
    if (known == records) return;
    for (const Declared* r : device_variables(std::exchange(known, records))) {
        Allocation variable{uintptr_t(r->address()), r->bytes, at, r->name};
        if (memory().find(variable.begin)) continue;
        variable.read_only = r->read_only && r->kind == Declared::device;
        if (r->kind == Declared::constant) variable.space = constant;
        if (exact && !variable.read_only) {
            variable.shadow = std::make_shared<Shadow>(variable.bytes);
            variable.shadow->note_written(0, variable.bytes);
        }
        memory().add(variable);
        at += (r->bytes + 255) / 256 * 256;
    }
}

}  // namespace sim
