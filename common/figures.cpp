#include "figures.h"

#include "base/error.h"

namespace harness {
namespace {

uint64_t bytes_of_matrix(const Results& results)
{
    return uint64_t(results.width) * results.height * bytes_of(results.type);
}

}  // namespace

std::string number(uint64_t n) { return std::to_string(n); }
std::string fixed(double x, int digits) { return format("%.*f", digits, x); }
std::string ms_text(double ms) { return fixed(ms, 4); }
std::string gbs_text(double gbs) { return fixed(gbs, 1); }
std::string percent(double share) { return fixed(100 * share, 1); }

std::string coalesced_text(const LaunchCounts& c)
{
    return c.bytes_moved() ? percent(double(c.bytes_asked()) / c.bytes_moved()) : "-";
}

const char* came_from(const Result& row, const Result::Timing& timing)
{
    if (row.bus) return "bus";
    switch (timing.plausibility) {
        case Plausibility::dram: return "DRAM";
        case Plausibility::cache_resident: return "cache-resident";
        case Plausibility::impossible: return "IMPOSSIBLE";
    }
    return "";
}

double gbs_of(const Results& results, const Result& row, double ms)
{
    return bandwidth_gbs(bytes_of_matrix(results) * row.expected.traffic(), ms);
}

double gbs_out_of_each_gpu(const Results& results, const Result& row)
{
    if (!row.timing || !row.gpus) return 0;
    const double bytes = crossing_bytes(results.width, results.height, row.gpus, bytes_of(results.type));
    return bytes / (row.timing->ms.median * 1e6);
}

double share_of_peer_copies(const Results& results, const Result& row)
{
    for (const Result& copies : results.rows)
        if (copies.bound && copies.timing && row.timing) return copies.timing->ms.median / row.timing->ms.median;
    return 0;
}

std::optional<Prediction> modelled(const Results& results, const Machine& machine, const Result& row)
{
    if (row.counts->bytes_asked() == 0 || row.gpus) return {};
    if (machine.roofline.stream_gbs > 0 && row.expected.passes > 1) return {};
    if (machine.roofline.stream_gbs > 0 && bytes_of_matrix(results) < machine.l2_bytes) return {};
    return predict(machine, *row.counts);
}

std::optional<OverCopy> over_copy(const Results& results, const Machine& machine, const Result& row)
{
    const double bytes = double(row.expected.traffic()) * bytes_of_matrix(results);
    if (machine.roofline.stream_gbs == 0 || row.expected.passes > 1 || bytes == 0 || row.gpus) return {};
    const std::optional<Prediction> model = predict(machine, *row.counts, true);
    if (!model) return {};
    return OverCopy{model->ms * 1e-3 / (bytes / (machine.roofline.stream_gbs * 1e9)), model->limit};
}

}  // namespace harness
