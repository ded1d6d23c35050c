// Turns counts by places of the machine code into counts by lines of the source.
//
// In: the counts of each site, which is one call that the compiler put in front of an access. Out: a list with one
// entry for each access of the source. A compiler that unrolls a loop makes several sites of one line, so sites that
// agree in line, kind, memory and size are added up. Sites without a known line stay apart, since nothing says that
// they are one access. The most expensive request of a line is the most expensive one of its sites; of several, the
// first in the order of blocks, so the report does not depend on the number of host threads. The cost is quadratic in
// the sites of a kernel, which are few.

#include "report.h"

#include <map>

#include "../../../common/base/error.h"
#include "../../elf/places.h"
#include "../sinks/rules.h"

namespace sim {

using harness::AccessSite;
using harness::format;
using harness::LaunchCounts;

namespace {

// Two lanes that meet; empty if none do.
std::string conflict_text(const Conflict& c, Kind kind)
{
    if (c.lanes[0] < 0) return "";
    const std::string meet = format("lanes %d and %d meet in bank %u", c.lanes[0], c.lanes[1], c.bank);
    const auto word = [&](int lane) { return (unsigned long long)c.words[lane]; };
    if (word(0) != word(1))
        return format("%s, at words %llu and %llu of shared memory", meet.c_str(), word(0), word(1));
    // Both lanes use one word, which is a conflict on 1.x and between atomic operations.
    return format("%s, both at word %llu of shared memory: %s", meet.c_str(), word(0),
                  kind == atomic ? "atomic operations on one word take turns"
                                 : "only one word at a time goes to several lanes");
}

// Two threads that have different indices.
std::string threads_text(const LocalIndex& index, unsigned bytes)
{
    return format("threads %d and %d of a block use elements %llu and %llu here", index.thread[0], index.thread[1],
                  (unsigned long long)index.offset[0] / bytes, (unsigned long long)index.offset[1] / bytes);
}

// A site of the machine code as one of the source.
AccessSite site_at(const SiteCounts& c, const Place& line, const Rules& rules)
{
    AccessSite site;
    static_cast<harness::AccessCounts&>(site) = c;
    site.file = line.file;
    site.path = line.path;
    site.line = line.line;
    site.text = line.text;
    site.address = line.file.empty() ? return_address(c.site) : 0;
    site.store = kind_of(c.site) == store;
    site.atomic = kind_of(c.site) == atomic;
    site.memory = c.space;
    site.element_bytes = bytes_of(c.site);
    site.unit = c.space == shared ? "wavefronts" : c.space == constant ? "words" : rules.unit(kind_of(c.site));
    site.conflict = conflict_text(c.worst_conflict.conflict, kind_of(c.site));
    site.conflict_units = c.worst_conflict.units;
    site.conflict_block = c.worst_conflict.block;
    if (c.index.differs()) {
        site.conflict = threads_text(c.index, bytes_of(c.site));
        site.conflict_units = 1;
        site.conflict_block = c.index.block;
    }
    site.drawn = c.drawn;
    return site;
}

}  // namespace

LaunchCounts counts_of(const Report& report, const harness::Machine& machine, bool locate)
{
    LaunchCounts counts;
    const Rules rules(machine);
    for (const SiteCounts& site : report.sites)
        add_site(counts.sites, site_at(site, locate ? place_of(return_address(site.site)) : Place(), rules));
    counts.partitions = machine.map.partitions;
    counts.map_assumed = machine.map.assumed();
    counts.partition_round = machine.map.partitions ? machine.map.round_bytes() : 0;
    const PartitionCounts& p = report.partitions;
    if (p.mean_read > 0) counts.busiest_read = double(p.busiest_read) / p.mean_read;
    if (p.mean_write > 0) counts.busiest_write = double(p.busiest_write) / p.mean_write;
    counts.resident_blocks = report.resident_blocks;
    counts.shared_bytes = report.shared_bytes;
    counts.launched = report.launched;
    counts.occupancy = machine.occupancy(report.block.x * report.block.y * report.block.z, report.shared_bytes);
    counts.roofline = report.roofline;
    counts.dram = p.dram;
    if (machine.model.burst_ns > 0) {
        counts.model_bursts = p.bursts;
        counts.model_scattered = p.scattered;
        counts.model_waves = double(report.barriers) / report.resident_blocks;
    }
    return counts;
}

void Report::add_sites(const std::vector<SiteCounts>& more)
{
    for (const SiteCounts& site : more) harness::add_site(sites, site);
    std::sort(sites.begin(), sites.end(), [](const SiteCounts& a, const SiteCounts& b) {
        return std::make_tuple(return_address(a.site), a.space, kind_of(a.site)) <
               std::make_tuple(return_address(b.site), b.space, kind_of(b.site));
    });
}

// nvcc keeps an array in local memory if it does not know an index, unless it can choose among registers at a low cost.
// As found with nvcc 13.0, it chooses among words, and at most 128 times: 2 for each load, 1 for each store, and 8
// times as much in a loop.
void Report::keep_local_memory()
{
    struct Cost {
        unsigned by_addresses = 0;
        bool of_words = true;
    };
    std::map<uint64_t, Cost> costs;
    const auto of = [](const SiteCounts& s) { return s.index.array.place ? s.index.array.place : s.site; };
    for (const SiteCounts& s : sites) {
        if (s.space != local || !(s.index.differs() || s.index.array.cost)) continue;
        Cost& cost = costs[of(s)];
        if (s.index.differs()) cost.by_addresses += (kind_of(s.site) == load ? 2 : 1) * (s.index.in_loop ? 8 : 1);
        cost.of_words &= bytes_of(s.site) == 4 || bytes_of(s.site) == 16;
    }
    const auto in_registers = [&](const SiteCounts& s) {
        if (s.space != local) return false;
        const Cost& by = costs[of(s)];
        const uint64_t cost = std::max(s.index.array.cost, by.by_addresses);
        return !cost || (by.of_words && s.index.array.bytes / 4 * cost <= 128);
    };
    sites.erase(std::remove_if(sites.begin(), sites.end(), in_registers), sites.end());
    for (const SiteCounts& s : sites) roofline.l1_turns += s.l1_turns;
}

void Report::add(const Report& later)
{
    add_sites(later.sites);
    launched.add(later.launched);
    barriers += later.barriers;
    partitions.add(later.partitions);
    roofline.add(later.roofline);
    output_stored += later.output_stored;
    unordered_possible |= later.unordered_possible;
    shared_bytes = std::max(shared_bytes, later.shared_bytes);
    peers = later.peers;
    resident_blocks = later.resident_blocks;
    grid = later.grid;
    block = later.block;
}

uint64_t Report::accesses() const
{
    uint64_t sum = 0;
    for (const SiteCounts& s : sites) sum += s.accesses;
    return sum;
}

uint64_t Report::requests(Space space, Kind kind) const
{
    uint64_t sum = 0;
    for (const SiteCounts& s : sites)
        if (s.space == space && kind_of(s.site) == kind) sum += s.requests;
    return sum;
}

}  // namespace sim
