// How fast the simulator is: traced accesses per second of host time, for one host thread and
// for all, and whether the cost per access stays the same as the matrix grows.
//
// Usage: build/tools/bench_sim. Takes no arguments; exits 1 if the cost per access does grow: to more than
// the double from the least matrix to the largest.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "common/kernel.h"
#include "sim/core/grid/simulator.h"
#include "common/base/statistics.h"

namespace {

// Accesses per second: traced only, with 1 host thread; counted and checked, with 1 and with all.
struct Rate {
    harness::Summary traced, one, all, speedup;  // speedup: all / one
    uint64_t accesses;
};

struct Launches : sim::Launcher {
    sim::Settings settings;
    uint64_t accesses = 0;

    Launches() { sim::use_launcher(this); }
    ~Launches() override { sim::use_launcher(nullptr); }
    void launch(const sim::Launching& launching, const sim::Code& code) override
    {
        accesses = sim::run_grid(launching, code, settings).accesses();
    }
};

double seconds(const harness::Kernel& kernel, float* odata, const float* idata, int side)
{
    const auto start = std::chrono::steady_clock::now();
    kernel.launch[int(harness::Type::f32)](odata, idata, side, side, kernel.block);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// All kinds in turn, so that what else the machine does hits all alike.
Rate rate_of(const harness::Kernel& kernel, int side, int samples, int threads)
{
    std::vector<float> idata(size_t(side) * side), odata(idata.size());
    std::vector<double> traced, one, all, speedup;
    const uint64_t bytes = idata.size() * sizeof(float);
    sim::use_matrices({{idata.data(), bytes, odata.data(), bytes}});
    Launches launches;
    seconds(kernel, odata.data(), idata.data(), side);  // touches fresh memory
    const uint64_t accesses = launches.accesses;
    for (int i = 0; i < samples; ++i) {
        sim::set_host_threads(1);
        launches.settings.instruments = false;
        traced.push_back(accesses / seconds(kernel, odata.data(), idata.data(), side));
        launches.settings.instruments = true;
        const double alone = seconds(kernel, odata.data(), idata.data(), side);
        sim::set_host_threads(threads);
        const double together = seconds(kernel, odata.data(), idata.data(), side);
        one.push_back(accesses / alone);
        all.push_back(accesses / together);
        speedup.push_back(alone / together);
    }
    return {harness::summarize(traced), harness::summarize(one), harness::summarize(all), harness::summarize(speedup),
            accesses};
}

}  // namespace

int main()
{
    const int threads = sim::host_threads();
    printf("host threads: %d; medians, +- half the distance from the 10th to the 90th percentile\n\n", threads);
    printf("%38s %10s  %19s  %s\n", "", "10^6 accesses/s:", "traced", "----------- counted and checked -----------");
    printf("%-26s %5s %10s  %16s  %16s  %16s  %14s\n", "kernel", "n", "accesses", "1 thread", "1 thread", "all threads",
           "speed-up");
    std::vector<double> sweep_rates;
    for (const harness::Kernel& kernel : harness::kernels()) {
        if (kernel.backend != "sim" || kernel.role != harness::Role::lesson) continue;
        const bool sweep = kernel.name == "transposeNoBankConflicts";
        for (int side : {256, 512, 1024, 2048, 4096}) {
            if (!sweep && side != 1024) continue;
            const Rate rate = rate_of(kernel, side, side <= 1024 ? 11 : 3, threads);
            if (sweep) sweep_rates.push_back(rate.traced.median);
            printf("%-26s %5d %10llu", kernel.name.c_str(), side, (unsigned long long)rate.accesses);
            for (const harness::Summary& s : {rate.traced, rate.one, rate.all})
                printf("  %7.1f +- %3.0f %%", s.median / 1e6, 50 * s.spread);
            printf("  %5.2f +- %3.0f %%\n", rate.speedup.median, 50 * rate.speedup.spread);
        }
    }
    return sweep_rates.back() > sweep_rates.front() / 2 ? 0 : 1;
}
