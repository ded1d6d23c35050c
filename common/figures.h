// Figures that a row of results implies, and how numbers are written: the same way in tables and in CSV files.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/model.h"
#include "results.h"

namespace harness {

std::string number(uint64_t n);
std::string fixed(double x, int digits);
std::string ms_text(double ms);      // four digits after the point
std::string gbs_text(double gbs);    // one digit
std::string percent(double share);   // of 1, one digit

// The degree of coalescing in percent: bytes asked for, of the bytes moved. `-` where none moved.
std::string coalesced_text(const LaunchCounts& counts);

// Where the bytes of a timing came from: DRAM, cache-resident, bus or IMPOSSIBLE.
const char* came_from(const Result& row, const Result::Timing& timing);

// The effective bandwidth in GB/s of a row whose pass takes so many ms.
double gbs_of(const Results& results, const Result& row, double ms);

// For a kernel of several GPUs: the GB/s that leave each GPU, and the time of plain copies between them over the time
// of the row. 0 where it was not timed.
double gbs_out_of_each_gpu(const Results& results, const Result& row);
double share_of_peer_copies(const Results& results, const Result& row);

// The model's time for the counts of a row, which has some; none where the model does not apply. A roofline is that of
// the DRAM: it does not apply to matrices that stay in the L2, nor to what a second pass finds in a cache.
std::optional<Prediction> modelled(const Results& results, const Machine& machine, const Result& row);

// The time that the roofline allows the counts of a row, over that of a copy of the same matrix: what they would cost
// in a matrix much larger than the L2.
struct OverCopy {
    double ratio;
    const char* limit;  // the resource that takes the time
};
std::optional<OverCopy> over_copy(const Results& results, const Machine& machine, const Result& row);

}  // namespace harness
