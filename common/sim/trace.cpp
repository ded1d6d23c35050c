#include "trace.h"

#include <unordered_map>

namespace sim {

void WarpTrace::grow()
{
    const size_t length = rows_.size();
    const ptrdiff_t words = cursor.next - (rows_.data()->address + lane_);
    rows_.resize(2 * length);
    cursor.next = rows_.data()->address + lane_ + words;
    cursor.end = rows_.data()->address + lane_ + rows_.size() * words_per_row;
}

// Lanes that went different ways: an access belongs to the request of its site that has the
// same number of accesses of that lane at that site before it.
void WarpTrace::regroup(std::vector<Group>& groups) const
{
    std::unordered_map<Site, std::vector<size_t>> requests;  // of a site, in order
    for (int lane = 0; lane < warp_size; ++lane) {
        std::unordered_map<Site, size_t> seen;
        for (size_t i = 0; i < length_[lane]; ++i) {
            const Site site = rows_[i].site[lane];
            std::vector<size_t>& of_site = requests[site];
            const size_t occurrence = seen[site]++;
            if (occurrence == of_site.size()) {
                of_site.push_back(groups.size());
                groups.push_back({{}, 0, int(i)});
            }
            Group& group = groups[of_site[occurrence]];
            group.row.address[lane] = rows_[i].address[lane];
            group.row.site[lane] = site;
            group.lanes |= 1u << lane;
        }
    }
}

}  // namespace sim
