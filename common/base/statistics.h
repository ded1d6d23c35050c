// Numbers drawn from samples, and whether to believe them.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "error.h"

namespace harness {

struct Summary {
    double median, min;
    double spread;  // (90th - 10th percentile) / median
};

// A measurement with a wider spread is too noisy to compare. In plots/data, no kernel of a step has one at 1024 x 1024
// and above. Small matrices have, as have copies from and to the host, functions of the CPU, and some libraries in
// Python. The file is read by plots/results.py, too.
constexpr double too_noisy =
#include "too_noisy.inc"
    ;

// The q-quantile of sorted, non-empty samples, interpolated linearly.
inline double quantile(const std::vector<double>& sorted, double q)
{
    const double at = q * double(sorted.size() - 1);
    const size_t below = size_t(at);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

// Samples must not be empty.
inline Summary summarize(std::vector<double> samples)
{
    std::sort(samples.begin(), samples.end());
    const double median = quantile(samples, 0.5);
    return {median, samples.front(), (quantile(samples, 0.9) - quantile(samples, 0.1)) / median};
}

// Bandwidth in GB/s (10^9 bytes/s) of so many bytes, read or written. The effective bandwidth of a
// transpose: every element counted as read once and written once, whatever the memory did.
inline double bandwidth_gbs(uint64_t bytes, double ms) { return double(bytes) / (ms * 1e6); }

enum class Plausibility {
    dram,            // the memory can have delivered this
    cache_resident,  // the data fits in the L2 or nearly so: not a DRAM bandwidth
    impossible,      // faster than the memory, or no number at all: the measurement is wrong
};

// `peak_gbs` 0: unknown. The working set is all that is touched before an address recurs;
// up to twice the L2 a good part of it can still be found there.
inline Plausibility plausibility(double gbs, double peak_gbs, uint64_t working_set_bytes, uint64_t l2_bytes)
{
    if (!std::isfinite(gbs) || gbs <= 0) return Plausibility::impossible;
    if (working_set_bytes < 2 * l2_bytes) return Plausibility::cache_resident;
    if (peak_gbs > 0 && gbs > peak_gbs) return Plausibility::impossible;
    return Plausibility::dram;
}

// The fault of such a measurement as a text; empty if there is none. `how`: words for between.
inline std::string impossible(double gbs, double peak_gbs, uint64_t working_set_bytes, uint64_t l2_bytes,
                              const char* how = "")
{
    if (plausibility(gbs, peak_gbs, working_set_bytes, l2_bytes) != Plausibility::impossible) return "";
    return format("impossible measurement%s: %.1f GB/s over %.1f MB, on a memory of %.1f GB/s", how, gbs,
                  double(working_set_bytes) / 1e6, peak_gbs);
}

}  // namespace harness
