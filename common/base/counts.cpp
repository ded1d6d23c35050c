#include "counts.h"

#include <algorithm>

namespace harness {
namespace {

// The sum of a number of each site.
template <typename Number>
uint64_t sum_over(const std::vector<AccessSite>& sites, Number number)
{
    uint64_t sum = 0;
    for (const AccessSite& site : sites) sum += number(site);
    return sum;
}

}  // namespace

void AccessCounts::add(const AccessCounts& more)
{
    for (const AccessSum& each : access_sums) this->*each.sum += more.*each.sum;
    worst = std::max(worst, more.worst);
    if (stride == 0) stride = more.stride;
}

bool AccessSite::same_access(const AccessSite& other) const
{
    return file == other.file && line == other.line && address == other.address && store == other.store &&
           atomic == other.atomic && memory == other.memory && element_bytes == other.element_bytes;
}

void AccessSite::add(const AccessSite& more)
{
    AccessCounts::add(more);
    add_drawn(drawn, more.drawn);
    if (more.conflict_units < conflict_units ||
        (more.conflict_units == conflict_units && more.conflict_block >= conflict_block))
        return;
    conflict = more.conflict;
    conflict_units = more.conflict_units;
    conflict_block = more.conflict_block;
}

void Launched::add(const Launched& more)
{
    launches += more.launches;
    blocks += more.blocks;
    warps += more.warps;
    barriers += more.barriers;
}

void DramCounts::add(const DramCounts& more)
{
    loaded_bytes += more.loaded_bytes;
    half_loads += more.half_loads;
    half_stores += more.half_stores;
    stored_in_halves += more.stored_in_halves;
    scattered_bytes += more.scattered_bytes;
    unfilled_sectors += more.unfilled_sectors;
}

void RooflineCounts::add(const RooflineCounts& more)
{
    load_batches += more.load_batches;
    hit_batches += more.hit_batches;
    l1_turns += more.l1_turns;
    missed_lines += more.missed_lines;
    partial_lines += more.partial_lines;
    constant_words += more.constant_words;
}

uint64_t LaunchCounts::sum(AccessSum::Sum of, Space memory, bool store) const
{
    return sum_over(sites, [=](const AccessSite& s) { return s.in(memory) && s.stores() == store ? s.*of : 0; });
}

double LaunchCounts::busiest(bool store) const
{
    const bool reached = bytes_moved(store) >= partition_round * std::max<uint64_t>(launched.launches, 1);
    return !reached ? 0 : store ? busiest_write : busiest_read;
}

uint64_t LaunchCounts::accesses() const
{
    return sum_over(sites, [](const AccessSite& s) { return s.accesses; });
}

uint64_t LaunchCounts::bytes_moved() const
{
    return sum_over(sites, [](const AccessSite& s) { return s.in(global) ? s.bytes : 0; });
}

uint64_t LaunchCounts::bytes_moved(bool store) const
{
    return sum_over(sites,
                    [=](const AccessSite& s) { return s.stores() == store && s.memory == global ? s.bytes : 0; });
}

uint64_t LaunchCounts::bytes_asked() const
{
    return sum_over(sites, [](const AccessSite& s) { return s.in(global) ? s.asked : 0; });
}

uint64_t LaunchCounts::bytes_between_gpus() const
{
    return sum_over(sites, [](const AccessSite& s) { return s.memory == peer ? s.bytes : 0; });
}

uint64_t LaunchCounts::bytes_asked_between_gpus() const
{
    return sum_over(sites, [](const AccessSite& s) { return s.memory == peer ? s.asked : 0; });
}

int LaunchCounts::worst_conflict() const
{
    int worst = 0;
    for (const AccessSite& s : sites) worst = std::max(worst, s.memory == shared ? s.worst : 0);
    return worst;
}

void add_drawn(std::vector<DrawnRequest>& kept, const std::vector<DrawnRequest>& more)
{
    for (const DrawnRequest& request : more) {
        const auto known = std::find_if(kept.begin(), kept.end(),
                                        [&](const DrawnRequest& other) { return other.units == request.units; });
        if (known == kept.end()) {
            kept.push_back(request);
            continue;
        }
        const uint64_t times = known->times + request.times;
        if (request.number < known->number) *known = request;
        known->times = times;
    }
}

Chosen choose(const std::vector<DrawnRequest>& requests)
{
    Chosen chosen;
    for (size_t i = 0; i < requests.size(); ++i) {
        if (requests[i].number < requests[chosen.first].number) chosen.first = i;
        if (requests[i].units > requests[chosen.worst].units) chosen.worst = i;
        if (requests[i].times > requests[chosen.typical].times) chosen.typical = i;
    }
    return chosen;
}

}  // namespace harness
