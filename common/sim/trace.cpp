#include "trace.h"

#include <unordered_map>

namespace sim {

void Counts::add(const Counts& other)
{
    for (int space = 0; space < 2; ++space)
        for (int kind = 0; kind < 2; ++kind) {
            accesses[space][kind] += other.accesses[space][kind];
            requests[space][kind] += other.requests[space][kind];
        }
}

uint64_t Counts::all_accesses() const
{
    return accesses[global][load] + accesses[global][store] + accesses[shared][load] + accesses[shared][store];
}

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
void WarpTrace::regroup(std::vector<Row>& rows, std::vector<uint32_t>& lanes) const
{
    std::unordered_map<Site, std::vector<size_t>> requests;  // of a site, in order
    for (int lane = 0; lane < warp_size; ++lane) {
        std::unordered_map<Site, size_t> seen;
        for (size_t i = 0; i < length_[lane]; ++i) {
            const Site site = rows_[i].site[lane];
            std::vector<size_t>& of_site = requests[site];
            const size_t occurrence = seen[site]++;
            if (occurrence == of_site.size()) {
                of_site.push_back(rows.size());
                rows.emplace_back();
                lanes.push_back(0);
            }
            const size_t request = of_site[occurrence];
            rows[request].address[lane] = rows_[i].address[lane];
            rows[request].site[lane] = site;
            lanes[request] |= 1u << lane;
        }
    }
}

}  // namespace sim
