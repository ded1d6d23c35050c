// How fast the simulator is: traced accesses per second of host time, for one host thread and
// for all, and whether the cost per access stays the same as the matrix grows.
//
// Usage: build/tests/bench_sim. Takes no arguments; exits 0.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "common/kernel.h"
#include "common/sim/simulator.h"
#include "common/statistics.h"

namespace {

struct Cost {
    double seconds;  // median
    double spread;
    uint64_t accesses;
};

Cost cost_of(const harness::Kernel& kernel, int side, int samples)
{
    std::vector<float> idata(size_t(side) * side), odata(idata.size());
    std::vector<double> seconds;
    uint64_t accesses = 0;
    for (int i = 0; i <= samples; ++i) {
        sim::take_counts();
        const auto start = std::chrono::steady_clock::now();
        kernel.launch[int(harness::Type::f32)](odata.data(), idata.data(), side, side);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        accesses = sim::take_counts().all_accesses();
        if (i > 0) seconds.push_back(elapsed.count());  // the first run touches fresh memory
    }
    const harness::Summary s = harness::summarize(seconds);
    return {s.median, s.spread, accesses};
}

}  // namespace

int main()
{
    const int all = sim::host_threads();
    printf("host threads: %d\n\n", all);
    printf("%-26s %6s %12s  %22s %22s %9s\n", "kernel", "n", "accesses", "1 thread: 10^6/s", "all threads: 10^6/s", "speed-up");
    for (const harness::Kernel& kernel : harness::kernels()) {
        if (kernel.backend != "sim") continue;
        const bool sweep = kernel.name == "transposeNoBankConflicts";
        for (int side : {256, 512, 1024, 2048, 4096}) {
            if (!sweep && side != 1024) continue;
            const int samples = side <= 1024 ? 9 : 5;
            sim::set_host_threads(1);
            const Cost one = cost_of(kernel, side, samples);
            sim::set_host_threads(all);
            const Cost many = cost_of(kernel, side, samples);
            printf("%-26s %6d %12llu  %12.1f +- %4.1f %%  %12.1f +- %4.1f %%  %9.2f\n", kernel.name.c_str(), side,
                   (unsigned long long)one.accesses, one.accesses / one.seconds / 1e6, 50 * one.spread,
                   many.accesses / many.seconds / 1e6, 50 * many.spread, one.seconds / many.seconds);
        }
    }
    return 0;
}
