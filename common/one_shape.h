// One matrix shape on one device: every contender verified, then timed or counted.

#pragma once

#include <string>
#include <vector>

#include "account.h"
#include "base/files.h"
#include "base/progress.h"
#include "bench.h"
#include "option_values.h"

namespace harness {

// The work on each contender. Its fields are set by name, like those of Look.
struct Task {
    Task() {}
    Type type = Type::f32;
    int reps = 0;  // timed samples, or runs on the simulator; 0: the device's default
    bool explain = false, print = false, once = false, one_launch = false;
    std::string link = "nvlink4";
    bool drawn = false;  // keep requests that a page draws
};

// The places that reports go to during the work.
struct Listeners {
    Complain complain;
    Progress& progress;
    WholeFile* traced = nullptr;   // for the requests of kernels that were found right; null: nowhere
    Account* account = nullptr;    // takes the matrices that are printed; null: nobody asks for them
};

// Runs copies of these contenders, next to the device's own copy. Results has a row for each, in their order.
Results run_shape(Device& device, std::vector<Contender> contenders, Shape shape, const Task& task,
                  const Listeners& listeners);

}  // namespace harness
