// The results of a run. tables.h prints them for people, results_csv.h for programs; figures.h has what both derive
// from them.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device.h"
#include "links.h"
#include "base/statistics.h"

namespace harness {

// One kernel on one size. A row without a source row and a step is the device's own copy.
struct Result {
    std::string kernel, label;  // label: what tells rows of one kernel apart
    std::string block;          // 32x8; empty where the kernel sets its own
    std::string row, step;
    int gpus = 0;      // that the matrix was spread over; 0: one had all of it
    bool bound = false;  // copies of what must cross between them: the others are compared with it
    Expected expected = copies;
    bool bus = false;  // a transfer between host and device: its bytes cross the bus once
    bool right = false;
    std::string refused;  // why the kernel cannot be launched on this shape
    struct Timing {
        Summary ms;  // per pass
        int samples = 0, passes_per_sample = 0, buffers = 0;
        uint64_t working_set_bytes = 0;
        double gbs = 0;  // effective bandwidth at the median; 0 where nothing is moved
        Plausibility plausibility = Plausibility::dram;
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
    const Link* link = &link_named("nvlink4");  // of the model of several GPUs
};

}  // namespace harness
