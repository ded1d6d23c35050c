// The rewriter puts the bound into the kernel as a static constant. Its mangled name follows from that of the
// kernel.

#include "launch_bounds.h"

#include <string>

#include "../elf/symbols.h"

namespace sim {

unsigned launch_bound(const void* kernel)
{
    const Symbol* function = kernel ? function_at(uint64_t(kernel)) : nullptr;
    if (!function) return 0;
    // The rewriter made it a static constant of the kernel.
    const std::string name = source_function(*function);
    const std::string owner = name.compare(0, 2, "_Z") == 0 ? name.substr(2) : std::to_string(name.size()) + name;
    const Symbol* bound = note("_ZZ" + owner + "E16sim_launch_bound");
    return bound ? *reinterpret_cast<const unsigned*>(bound->address) : 0;
}

}  // namespace sim
