// A header's variable has a record in each file that includes it: one of them counts.

#include "declared_list.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "../../elf/symbols.h"

namespace sim {

std::vector<const Declared*> device_variables(const Declared* known)
{
    std::vector<const Declared*> all;
    std::set<const void*> seen;
    for (const Declared* r = records; r != known; r = r->next)
        if (r->kind >= Declared::device && r->kind <= Declared::constant && seen.insert(r->address()).second)
            all.push_back(r);
    std::reverse(all.begin(), all.end());
    std::stable_sort(all.begin(), all.end(), [](const Declared* a, const Declared* b) {
        return std::tuple(a->kind, a->read_only, std::string_view(a->name)) <
               std::tuple(b->kind, b->read_only, std::string_view(b->name));
    });
    return all;
}

bool declared_in(const Declared& record, const Symbol& function)
{
    const Symbol* own = function_at(uint64_t(record.address));
    return own && is_inside(*own, function);
}

unsigned launch_bound(const void* kernel)
{
    const Symbol* function = kernel ? function_at(uint64_t(kernel)) : nullptr;
    for (const Declared* r = records; function && r; r = r->next)
        if (r->kind == Declared::bound && declared_in(*r, *function)) return unsigned(r->bytes);
    return 0;
}

}  // namespace sim
