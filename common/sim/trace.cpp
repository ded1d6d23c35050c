#include "trace.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace sim {

void WarpTrace::grow()
{
    const size_t length = rows_.size();
    const ptrdiff_t words = cursor.next - (rows_.data()->address + lane_);
    rows_.resize(2 * length);
    cursor.next = rows_.data()->address + lane_ + words;
    cursor.end = rows_.data()->address + lane_ + rows_.size() * words_per_row;
}

namespace {

// The accesses of one lane at one site, in order.
struct Visits {
    int lane;
    std::vector<size_t> rows;
    std::vector<uint64_t> addresses;
};

// Where in `all` the visits of `some` belong if every one lies `distance` bytes from its counterpart.
// False if there is no such place.
bool align(const Visits& all, const Visits& some, uint64_t distance, std::vector<size_t>& places)
{
    places.clear();
    size_t m = 0;
    for (uint64_t address : some.addresses) {
        while (m < all.addresses.size() && all.addresses[m] + distance != address) ++m;
        if (m == all.addresses.size()) return false;
        places.push_back(m++);
    }
    return true;
}

}  // namespace

// Lanes that went different ways. At each site, the lane that came there most often tells how many
// requests there are. A lane that came less often was left out of some of them: of which, its
// addresses tell, since lanes keep their distance from each other from one turn of a loop to the
// next. The distance is that of lanes that missed nothing, or else whatever fits; where nothing
// does, the lane is taken to have missed the last.
void WarpTrace::regroup(std::vector<Group>& groups) const
{
    std::vector<std::pair<Site, std::vector<Visits>>> sites;
    std::unordered_map<Site, size_t> number;
    for (int lane = 0; lane < warp_size; ++lane)
        for (size_t i = 0; i < length_[lane]; ++i) {
            const Site site = rows_[i].site[lane];
            const auto known = number.emplace(site, sites.size());
            if (known.second) sites.push_back({site, {}});
            std::vector<Visits>& of_site = sites[known.first->second].second;
            if (of_site.empty() || of_site.back().lane != lane) of_site.push_back({lane, {}, {}});
            of_site.back().rows.push_back(i);
            of_site.back().addresses.push_back(rows_[i].address[lane]);
        }

    std::vector<size_t> places;
    for (const auto& [site, of_site] : sites) {
        const Visits* most = &of_site.front();
        for (const Visits& v : of_site)
            if (v.rows.size() > most->rows.size()) most = &v;
        // From one lane to the next, as the lanes that missed nothing have it.
        int64_t step = 0;
        for (const Visits& v : of_site)
            if (step == 0 && &v != most && v.rows.size() == most->rows.size())
                step = int64_t(v.addresses[0] - most->addresses[0]) / (v.lane - most->lane);

        const size_t first = groups.size();
        for (size_t row : most->rows) groups.push_back({{}, 0, int(row)});
        for (const Visits& v : of_site) {
            bool fits = v.rows.size() < most->rows.size() && step != 0 && align(*most, v, uint64_t(step * (v.lane - most->lane)), places);
            for (size_t m = 0; !fits && m <= most->rows.size() - v.rows.size(); ++m)
                fits = align(*most, v, v.addresses[0] - most->addresses[m], places);
            for (size_t n = 0; n < v.rows.size(); ++n) {
                Group& group = groups[first + (fits ? places[n] : n)];
                group.row.address[v.lane] = v.addresses[n];
                group.row.site[v.lane] = site;
                group.lanes |= 1u << v.lane;
            }
        }
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.order < b.order; });
}

}  // namespace sim
