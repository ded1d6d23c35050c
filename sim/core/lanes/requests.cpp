// Lanes that went different ways. In: a column of accesses for each lane of a warp. Out: groups of lanes, in an
// order.
//
// The usual case, that all lanes made the same accesses in the same order, is in the header. Otherwise accesses
// belong together if they agree in place, kind, size and turn, and if they are the same visit of their lane to it,
// the first, the second and so on. The groups are then put into an order in which the accesses of each lane keep
// theirs: a group is free once it is the next one of all of its lanes, and of free groups the one that a lane made
// earliest comes first. Lanes that came to the same places in opposite orders have no such order. Then the earliest
// group goes first.
//
// The cost is linear in the accesses, times the logarithm of the groups.

#include "requests.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "../../elf/places.h"

namespace sim {

__thread Cursor cursor;

uint64_t return_address(Site site)
{
    if (uint32_t(site) == 0) return 0;
    const uint64_t here = uint64_t(&return_address);
    return here + int32_t(uint32_t(site) - uint32_t(here));
}

void Columns::grow()
{
    size_t lengths[warp_size];
    end_lane();
    for (unsigned lane = 0; lane < warp_size; ++lane) lengths[lane] = length(lane);
    rows_.resize(2 * rows_.size());
    clear();
    for (unsigned lane = 0; lane < warp_size; ++lane) end_of_[lane] += ptrdiff_t(lengths[lane]) * words_per_row;
    begin_lane(lane_);
}

uint64_t Columns::key_of(uintptr_t address, Site site)
{
    return address ^ uint64_t(place_number(return_address(site))) << above_address << 1;
}

const Left& Columns::left(Site site, uintptr_t address) const
{
    if (left_.empty()) compare_stores();
    return left_[key_of(address, site)];
}

void Columns::compare_stores() const
{
    struct Last {
        Left* left;
        unsigned lane, bytes;
        uint16_t found;
    };
    std::unordered_map<uintptr_t, Last> last;
    const auto leaves = [](const Last& l, uint16_t value) {
        const uint32_t lane = 1u << l.lane;
        if (l.left->lanes & lane && l.left->value[l.lane] != value) l.left->varied |= lane;
        l.left->lanes |= lane;
        l.left->value[l.lane] = value;
    };
    for (unsigned lane = 0; lane < warp_size; ++lane)
        for (size_t i = 0; i < length(lane); ++i) {
            const Site site = without_turn(rows_[i].site[lane]);
            const uintptr_t address = rows_[i].address[lane] & address_bits;
            if (is_event(site) || kind_of(site) != store || address >= local_addresses) continue;
            const uint16_t before = uint16_t(rows_[i].address[lane] >> above_address);
            Left& left = left_[key_of(address, site)];
            const auto known = last.emplace(address, Last{&left, lane, bytes_of(site), before});
            Last& l = known.first->second;
            if (!known.second) {
                leaves(l, before);
                l.left = &left;
                l.lane = lane;
            }
            left.found = l.found;
        }
    for (const auto& [address, l] : last) leaves(l, fingerprint(address, l.bytes));
}

namespace {

// The order of groups in which each lane's accesses keep the order in which it made them. `paths`: the groups of each
// lane; `lanes`: how many each group has; `first`: where the group comes first in a lane, which decides between those
// that are free.
std::vector<size_t> merged(const std::vector<size_t> (&paths)[warp_size], std::vector<int> lanes,
                           const std::vector<size_t>& first)
{
    using Candidate = std::pair<size_t, size_t>;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> free;
    std::vector<size_t> order;
    std::vector<bool> done(first.size());
    size_t at[warp_size] = {};
    const auto arrive = [&](int lane) {
        while (at[lane] < paths[lane].size() && done[paths[lane][at[lane]]]) ++at[lane];
        if (at[lane] == paths[lane].size()) return;
        const size_t group = paths[lane][at[lane]];
        if (--lanes[group] == 0) free.push({first[group], group});
    };
    for (int lane = 0; lane < warp_size; ++lane) arrive(lane);
    while (order.size() < first.size()) {
        if (free.empty()) {
            // Lanes have come to the same places in opposite orders. The earliest group goes first.
            for (int lane = 0; lane < warp_size; ++lane)
                if (at[lane] < paths[lane].size()) free.push({first[paths[lane][at[lane]]], paths[lane][at[lane]]});
            const Candidate chosen = free.top();
            free = {};
            free.push(chosen);
        }
        const size_t group = free.top().second;
        free.pop();
        order.push_back(group);
        done[group] = true;
        for (int lane = 0; lane < warp_size; ++lane)
            if (at[lane] < paths[lane].size() && paths[lane][at[lane]] == group) arrive(lane);
    }
    return order;
}

}  // namespace

// Groups the accesses of lanes that went different ways. A compiler may have made several calls of one access, on paths
// that differ in what is known there, so places are compared by the source and not by the address. A lane may access
// one place several times in one turn, as for a structure, member by member. Their count tells these accesses apart.
std::vector<size_t> Columns::regroup(std::vector<Group>& groups, uint32_t* times) const
{
    struct Visited {
        std::vector<size_t> groups;  // of the first, second, ... visit
        int lane = -1;               // the lane that is being looked at
        size_t visits = 0;           // that this lane has made so far
    };
    std::unordered_map<Site, Visited> visited;
    std::unordered_map<uint32_t, uint32_t> number;  // of a place, by return address
    std::vector<size_t> paths[warp_size], first;
    std::vector<int> lanes;
    for (int lane = 0; lane < warp_size; ++lane)
        for (size_t i = 0; i < length(lane); ++i) {
            const Site site = rows_[i].site[lane];
            if (is_event(site)) {
                times[lane] = uint32_t(rows_[i].address[lane]);
                continue;
            }
            uint32_t& place = number[uint32_t(site)];
            // Two elements of a thread's own array on one line, a[i] and a[j], are two places.
            if (!place && rows_[i].address[lane] & local_addresses) place = uint32_t(site);
            if (!place) place = place_number(return_address(site));
            Visited& v = visited[(site & ~uint64_t(0xffffffff)) | place];
            if (v.lane != lane) v.lane = lane, v.visits = 0;
            if (v.visits == v.groups.size()) {
                v.groups.push_back(groups.size());
                groups.push_back({{}, 0, {}});
                first.push_back(i);
                lanes.push_back(0);
            }
            const size_t index = v.groups[v.visits++];
            Group& group = groups[index];
            group.row.address[lane] = rows_[i].address[lane];
            group.row.site[lane] = site;
            group.times[lane] = times[lane];
            group.lanes |= 1u << lane;
            first[index] = std::min(first[index], i);
            ++lanes[index];
            paths[lane].push_back(index);
        }
    return merged(paths, std::move(lanes), first);
}

}  // namespace sim
