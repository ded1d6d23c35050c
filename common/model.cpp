#include "model.h"

namespace harness {

std::optional<Prediction> predict(const Machine& machine, const LaunchCounts& counts)
{
    const MemoryModel& m = machine.model;
    if (m.burst_ns == 0) return {};
    const double memory = counts.model_bursts * m.burst_ns + counts.model_scattered * m.scattered_ns;
    const double barriers = counts.model_waves * m.barrier_ns;
    const bool wasteful = counts.bytes_moved() > 2 * counts.bytes_asked();
    const bool camped = counts.busiest_read > 1.5 || counts.busiest_write > 1.5;
    const char* limit = wasteful && camped ? "uncoalesced access, partition camping"
                        : wasteful         ? "uncoalesced access"
                        : camped           ? "partition camping"
                        : 2 * counts.model_scattered > counts.model_bursts / 2 ? "DRAM, scattered stores"
                                                                             : "DRAM bandwidth";
    return Prediction{(memory + barriers) / 1e6, limit};
}

double published_gbs(const Machine& machine, const std::string& row)
{
    // Ruetsch and Micikevicius, revised edition: GTX 280, "loop over kernel".
    static const struct {
        const char* row;
        double gibs;
    } gtx280[] = {{"W1", 96.9}, {"W2", 80.9}, {"W3", 2.2}, {"W4", 16.5}, {"W5", 16.6}, {"W6", 80.4}, {"W7", 16.7}, {"W8", 69.5}};
    if (machine.name == "gtx280")
        for (const auto& published : gtx280)
            if (row == published.row) return published.gibs * 1.073741824;
    return 0;
}

}  // namespace harness
