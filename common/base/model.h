// Times that were not measured: what a machine's model makes of the simulator's counts.

#pragma once

#include <optional>
#include <string>

#include "counts.h"
#include "machine.h"

namespace harness {

struct Prediction {
    double ms;
    const char* limit;  // the resource that takes most of the time
    const char* next;   // the one behind it; empty: not known
};

// The time of the launches that were counted. None for a machine without a model. `large`: the time that they would
// take, by the same counts, as a part of a matrix that keeps every SM busy; a launch then costs nothing.
std::optional<Prediction> predict(const Machine& machine, const LaunchCounts& counts, bool large = false);

// The bandwidth in GB/s that the whitepaper's table gives for this row on this machine, at
// 2048 x 2048 float; 0 if it has none. The table is in GiB/s and labelled GB/s; this is converted.
double published_gbs(const Machine& machine, const std::string& row);

}  // namespace harness
