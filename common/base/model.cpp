// Two models of times, of which a machine has at most one.
//
// In the model of a memory, the partition that takes longest needs a time for each burst, more for a scattered one, and
// each barrier adds its own time. In the roofline, each resource needs a time for a block. A block waits for latencies
// and queues for the slowest resource with the other blocks of its SM. The time is that between the ends of two blocks,
// times the blocks of an SM, plus the launches. The cost is linear in the blocks that an SM holds.

#include "model.h"

#include <algorithm>
#include <vector>

namespace harness {
namespace {

// The time that a server needs for a block, in ns, if every SM has its share of it.
struct Demand {
    double ns;
    const char* name;
};

bool less(const Demand& a, const Demand& b) { return a.ns < b.ns; }

// The blocks of an SM go round. Each waits `waits` ns for latencies, with nobody in its way, and queues for servers
// that serve one at a time. A block that comes to a server finds as many others there as there would be on average
// with one block less (mean value analysis of a closed network: Reiser and Lavenberg, J. ACM 27, 1980). Returns the ns
// from the end of a block to the end of the next one.
double between_blocks(uint64_t blocks, double waits, const std::vector<double>& services)
{
    std::vector<double> queues(services.size());
    double between = 0;
    for (uint64_t n = 1; n <= blocks; ++n) {
        double round = waits;
        for (size_t i = 0; i < services.size(); ++i) round += services[i] * (1 + queues[i]);
        between = round / double(n);
        for (size_t i = 0; i < services.size(); ++i) queues[i] = services[i] * (1 + queues[i]) / between;
    }
    return between;
}

// Seconds of the DRAM for lines that are moved whole. A byte stored apart from its neighbours costs more; the
// micro-benchmark scatters half of its bytes.
double whole_lines(const Roofline& r, const DramCounts& n, uint64_t stored)
{
    const double scatter = 2 * (1 / r.scatter_gbs - 1 / r.stream_gbs);
    const double bytes = double(n.loaded_bytes + stored - std::min(n.stored_in_halves, stored));
    return (bytes / r.stream_gbs + double(std::min(n.scattered_bytes, stored)) * scatter) * 1e-9;
}

// Seconds of the DRAM for words that threads store to local memory. Each goes on to the DRAM, and loads mostly hit the
// L1. A word takes 1.44 times as long as one of a copy: 16384 x 16384 floats that make the detour took 0.395 ms more on
// an H200, and 0.256 ms is half of a copy (plots/data/h200_local.csv).
double local_words(const Roofline& r, const LaunchCounts& c)
{
    uint64_t bytes = 0;
    for (const AccessSite& s : c.sites)
        if (s.memory == local && s.stores()) bytes += s.asked;
    return 1.44 * double(bytes) / r.stream_gbs * 1e-9;
}

// Seconds of the DRAM for halves of lines, which take longer than half of a line. A sector that a store has not filled
// takes longer still.
double half_lines(const Roofline& r, const DramCounts& n)
{
    const double lines = double(n.half_loads) * r.half_load + double(n.half_stores) * r.half_store +
                         double(n.unfilled_sectors) * (r.unfilled_store - r.half_store);
    return lines * 128 / r.stream_gbs * 1e-9;
}

// ns that a block waits, if it is alone on its SM: it starts, its warps load one batch after another, meet at barriers,
// and store.
double waits_of_block(const Roofline& r, const LaunchCounts& c)
{
    const double threads = double(c.occupancy.threads) - 32, warps = double(c.launched.warps);
    const double loads = double(c.roofline.load_batches) * r.load_ns + double(c.roofline.hit_batches) * r.hit_ns;
    return r.block_ns + threads * r.thread_ns + loads / warps + r.store_ns +
           double(c.launched.barriers) / warps * (r.barrier_ns + threads * r.barrier_thread_ns);
}

Prediction roofline(const Machine& machine, const LaunchCounts& c, bool large)
{
    const Roofline& r = machine.roofline;
    const RooflineCounts& n = c.roofline;
    if (c.launched.blocks == 0) return {0, "DRAM bandwidth", ""};
    const double blocks = double(c.launched.blocks);
    const double share = machine.sms / blocks * 1e9;  // of what the machine does in a second: ns for a block of an SM
    uint64_t stored = 0;
    for (const AccessSite& s : c.sites)
        if (s.in(global) && s.stores()) stored += s.asked;
    const double wavefronts = double(c.units(shared, false) + c.units(shared, true)) / r.wavefronts_per_s;
    const double l1 = double(n.l1_turns) / r.l1_turns_per_s + double(n.missed_lines) / r.l1_lines_per_s;
    const double whole = whole_lines(r, c.dram, stored), halves = half_lines(r, c.dram), words = local_words(r, c);
    const double dram = whole + halves + words;
    const double partial = double(n.partial_lines) / r.partial_lines_per_s;
    std::vector<Demand> demands = {
        {dram * share, words > halves && 4 * words > whole   ? "DRAM, local memory"
                       : halves > whole                       ? "DRAM, halves of lines"
                       : 2 * c.dram.scattered_bytes > stored ? "DRAM, scattered stores"
                                                              : "DRAM bandwidth"},
        {(l1 + wavefronts) * share, wavefronts > l1 ? "shared-memory wavefronts" : "L1: lines touched by loads"},
        {double(n.constant_words) / r.constant_words_per_s * share, "constant memory: words of a warp"}};
    // No block waits for its stores, so nobody queues for this.
    const double stores = n.partial_lines ? (partial + whole + words) * share : 0;
    const double starts = machine.sms / r.blocks_per_s * 1e9, waits = waits_of_block(r, c);
    const double slowest = std::max_element(demands.begin(), demands.end(), less)->ns;
    const uint64_t most = std::max<uint64_t>(c.occupancy.blocks, 1);
    const uint64_t there = (c.launched.blocks + uint64_t(machine.sms) - 1) / uint64_t(machine.sms);
    const uint64_t together = large ? most : std::clamp<uint64_t>(there, 1, most);
    const double between = std::max(between_blocks(together, waits - starts, {starts, slowest}), stores);
    const double rounds = large ? blocks / machine.sms : std::max(blocks / machine.sms, double(together));
    demands.insert(demands.end(), {{partial * share, "L2: lines touched by stores"},
                                   {starts, "start of blocks"},
                                   {waits / double(together), "latency: loads in flight"}});
    std::partial_sort(demands.begin(), demands.begin() + 2, demands.end(),
                      [](const Demand& a, const Demand& b) { return less(b, a); });
    const double launches = large ? 0 : r.launch_ns * double(c.launched.launches);
    return {(between * rounds + launches) * 1e-6, demands[0].name, demands[1].name};
}

}  // namespace

std::optional<Prediction> predict(const Machine& machine, const LaunchCounts& counts, bool large)
{
    if (machine.roofline.stream_gbs > 0) return roofline(machine, counts, large);
    const MemoryModel& m = machine.model;
    if (m.burst_ns == 0) return {};
    const double memory = counts.model_bursts * m.burst_ns + counts.model_scattered * m.scattered_ns;
    const double barriers = counts.model_waves * m.barrier_ns;
    const bool wasteful = counts.bytes_moved() > 2 * counts.bytes_asked();
    const bool camped = counts.busiest_read > 1.5 || counts.busiest_write > 1.5;
    const char* limit = wasteful && camped ? "uncoalesced access, partition camping"
                        : wasteful         ? "uncoalesced access"
                        : camped           ? "partition camping"
                        : 4 * counts.model_scattered > counts.model_bursts ? "DRAM, scattered stores"
                                           : "DRAM bandwidth";
    return Prediction{(memory + barriers) / 1e6, limit, ""};
}

double published_gbs(const Machine& machine, const std::string& row)
{
    // Ruetsch and Micikevicius, revised edition: GTX 280, "loop over kernel".
    static const struct {
        const char* row;
        double gibs;
    } gtx280[] = {{"W1", 96.9}, {"W2", 80.9}, {"W3", 2.2},  {"W4", 16.5},
                  {"W5", 16.6}, {"W6", 80.4}, {"W7", 16.7}, {"W8", 69.5}};
    if (machine.name == "gtx280")
        for (const auto& published : gtx280)
            if (row == published.row) return published.gibs * 1.073741824;
    return 0;
}

}  // namespace harness
