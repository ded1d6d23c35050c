#include "sequence.h"

#include <algorithm>

#include "../../elf/places.h"

namespace sim {

bool Sequence::precedes(Site other, Site site, int order) const
{
    const auto same = [&](Site s) {
        return s == other || place_number(return_address(s)) == place_number(return_address(other));
    };
    for (int i = std::min(order, int(sites_.size())) - 1; i >= 0; --i)
        if (same(sites_[i])) return true;
    for (size_t i = size_t(order) + 1; i < sites_.size(); ++i)
        if (same(sites_[i])) return false;
    // This warp does not come to the other place at all, so the order in the source decides.
    return before(return_address(other), return_address(site));
}

}  // namespace sim
