#include "requests.h"

#include <algorithm>
#include <unordered_map>

#include "places.h"

namespace sim {

__thread Cursor cursor;

uint64_t return_address(Site site)
{
    if (uint32_t(site) == 0) return 0;
    const uint64_t here = uint64_t(&return_address);
    return here + int32_t(uint32_t(site) - uint32_t(here));
}

void WarpRecord::grow()
{
    const size_t length = rows_.size();
    const ptrdiff_t words = cursor.next - (rows_.data()->address + lane_);
    rows_.resize(2 * length);
    cursor.next = rows_.data()->address + lane_ + words;
    cursor.end = rows_.data()->address + lane_ + rows_.size() * words_per_row;
}

// Lanes that went different ways. A compiler may have made several calls of one access, on paths that
// differ in what is known there: their places are told by the source, not by the address. What a lane
// accesses several times at one place in one turn (a structure, member by member) is told by the count.
void WarpRecord::regroup(std::vector<Group>& groups, uint32_t* times) const
{
    struct Visited {
        std::vector<size_t> groups;  // of the first, second, ... visit
        int lane = -1;               // the lane that is being looked at
        size_t visits = 0;           // it made so far
    };
    std::unordered_map<Site, Visited> visited;
    std::unordered_map<uint32_t, uint32_t> number;  // of a place, by return address
    for (int lane = 0; lane < warp_size; ++lane)
        for (size_t i = 0; i < length_[lane]; ++i) {
            const Site site = rows_[i].site[lane];
            if (is_event(site)) {
                times[lane] = uint32_t(rows_[i].address[lane]);
                continue;
            }
            uint32_t& place = number[uint32_t(site)];
            if (!place) place = place_number(return_address(site));
            Visited& v = visited[(site & ~uint64_t(0xffffffff)) | place];
            if (v.lane != lane) v.lane = lane, v.visits = 0;
            if (v.visits == v.groups.size()) {
                v.groups.push_back(groups.size());
                groups.push_back({{}, 0, i, {}});
            }
            Group& group = groups[v.groups[v.visits++]];
            group.row.address[lane] = rows_[i].address[lane];
            group.row.site[lane] = site;
            group.times[lane] = times[lane];
            group.lanes |= 1u << lane;
            group.order = std::min(group.order, i);
        }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.order < b.order; });
}

}  // namespace sim
