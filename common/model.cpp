#include "model.h"

#include <algorithm>

namespace harness {
namespace {

// Every resource works at its best, beside the others: the slowest decides.
Prediction roofline(const Roofline& r, const LaunchCounts& c)
{
    uint64_t stored = 0;
    for (const AccessSite& s : c.sites)
        if (!s.shared && s.store) stored += s.asked;
    const double total = double(c.bytes_asked());
    // A byte stored apart from its neighbours costs more; the benchmark scatters half of its bytes.
    const double scatter = 2 * (1 / r.scatter_gbs - 1 / r.stream_gbs);
    const double dram = (total / r.stream_gbs + std::min<double>(c.scattered_bytes, stored) * scatter) * 1e-9;
    // With one load on its way, a thread waits for each; the stores in between take their time, too.
    const double latency = c.load_batches / r.loads_in_flight_per_s + stored / r.stream_gbs * 1e-9;
    const double lines = c.store_lines / r.lines_per_s, loaded_lines = c.load_lines / r.loaded_lines_per_s;
    const double wavefronts = (c.units(true, false) + c.units(true, true)) / r.wavefronts_per_s;
    const Prediction all[] = {
        {dram * 1e3, 2 * c.scattered_bytes > stored ? "DRAM, scattered stores" : "DRAM bandwidth"},
        {latency * 1e3, "latency: one load in flight"},
        {lines * 1e3, "L2: lines touched by stores"},
        {loaded_lines * 1e3, "L1: lines touched by loads"},
        {wavefronts * 1e3, "shared-memory wavefronts"}};
    return *std::max_element(std::begin(all), std::end(all),
                             [](const Prediction& a, const Prediction& b) { return a.ms < b.ms; });
}

}  // namespace

std::optional<Prediction> predict(const Machine& machine, const LaunchCounts& counts)
{
    if (machine.roofline.stream_gbs > 0) return roofline(machine.roofline, counts);
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
    return Prediction{(memory + barriers) / 1e6, limit};
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
