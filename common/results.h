// The results of a run: a table for people, a CSV file for programs. Both print a number the
// same way.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device.h"
#include "base/statistics.h"

namespace harness {

// One kernel on one size. A row without a source row and a step is the device's own copy.
struct Result {
    std::string kernel, label;  // label: what tells rows of one kernel apart
    std::string block;          // 32x8; empty where the kernel sets its own
    std::string row, step;
    int gpus = 0;      // that the matrix was spread over; 0: one had all of it
    Expected expected = copies;
    bool bus = false;  // a transfer between host and device: its bytes cross the bus once
    bool right = false;
    std::string refused;  // why the kernel cannot be launched on this shape
    struct Timing {
        Summary ms;  // per pass
        int samples, passes_per_sample, buffers;
        uint64_t working_set_bytes;
        double gbs;  // effective bandwidth at the median; 0 where nothing is moved
        Plausibility plausibility;
    };
    std::optional<Timing> timing;      // of a device with a clock
    std::optional<Timing> one_launch;  // the passes inside one launch
    std::optional<LaunchCounts> counts;  // of the simulator
    std::string occupancy;               // as a GPU says
};

struct Results {
    DeviceInfo device;
    Type type;
    int width, height;  // of idata
    double copy_gbs;    // bandwidth of the device's own copy, 0 if it was not measured
    std::vector<Result> rows;
};

std::string table(const Results& results);

// The bandwidths of one device at several sizes, a column each. Empty where nothing was timed.
std::string sweep_table(const std::vector<Results>& sizes);

// The times that the machine's model makes of the counts, beside what was published for it at
// 2048 x 2048 float. Empty for a machine without a model; a hint where the model does not apply.
std::string model_table(const Results& results);

// A heading, and a line for each row of all results.
std::string csv(const std::vector<Results>& results);

// --trace has a line for each request (base/trace.h), after this one.
std::string trace_heading();
// The cells that all lines of one kernel begin with, and a line of that kernel.
std::string trace_begin(const Results& results, const Result& result);
std::string trace_line(const std::string& begin, const TracedRequest& request);
// What so many of these lines take at least, in bytes.
uint64_t trace_bytes(const std::string& begin, uint64_t requests);

}  // namespace harness
