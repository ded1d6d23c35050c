// One launch at a time, from its begin to its end.
//
// Before: the runtime is locked, CUDA's limits are checked, and the core is told of the machine, the device, the work
// that may run at the same time, and the trace. Device memory is opened to the host thread that runs the kernel. After:
// memory is closed, the counts are added to those of the kernel, findings are noted, and a kernel that failed makes the
// runtime return its error. The lock lasts from the begin to the end, so that no two launches overlap.

#include "launcher.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "../../common/base/error.h"
#include "../../common/base/progress.h"
#include "../elf/places.h"
#include "../core/grid/simulator.h"
#include "../core/hooks/thread.h"
#include "devices.h"
#include "host_faults.h"
#include "kernels.h"
#include "notes.h"
#include "options.h"
#include "output_files.h"
#include "runtime.h"
#include "timeline.h"
#include "traffic.h"

namespace sim {
namespace {

using harness::format;

// The launch that runs.
struct CurrentLaunch {
    Work work;
    uint64_t window = 0;  // the first window of the launch
    std::vector<Beside> beside;
    std::string title;
    std::chrono::steady_clock::time_point begun;
    std::atomic<bool> told{false};  // its progress was shown
    std::set<std::string> told_of;  // kernels whose progress was shown
    std::unique_ptr<harness::Progress> progress;
};

CurrentLaunch& current_launch()
{
    static CurrentLaunch& launch = *new CurrentLaunch;  // never destroyed: exit handlers use it
    return launch;
}

void show_progress()
{
    if (current_launch().progress)
        current_launch().progress->doing(
            format("launch %llu: %s", (unsigned long long)launches_finished() + 1, current_launch().title.c_str()));
}

std::string duration_text(double seconds)
{
    return seconds < 90        ? format("%.0f s", seconds)
           : seconds < 90 * 60 ? format("%.0f min", seconds / 60)
                               : format("%.1f h", seconds / 3600);
}

// Says once for each slow kernel how long it will take, and which sample of its blocks would take less. `told` keeps
// other host threads and later blocks out.
void block_done(uint64_t done, uint64_t blocks)
{
    CurrentLaunch& now = current_launch();
    if (now.told.load(std::memory_order_relaxed)) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - now.begun).count(),
                 patience = program_options().patience, all = seconds * double(blocks) / double(done);
    if (seconds < std::min(patience, 1.0) || all < patience || done == blocks || now.told.exchange(true)) return;
    if (now.progress) now.progress->clear();
    const std::string sample =
        format("; the simulator's option --blocks %.0f runs a sample of each launch, in about %s",
               std::max(1.0, double(blocks) * patience / all), duration_text(patience).c_str());
    fprintf(stderr, "%s: %s: %llu of %llu blocks done in %s, about %s left; Ctrl-C ends the program with a report%s\n",
            program_invocation_short_name, now.title.c_str(), (unsigned long long)done, (unsigned long long)blocks,
            duration_text(seconds).c_str(), duration_text(all - seconds).c_str(),
            program_options().blocks ? "" : sample.c_str());
    show_progress();
}

// The settings of the next launch; none if CUDA would refuse it.
std::optional<Settings> begin_launch(const Launching& launching)
{
    if (in_kernel()) fail("a kernel launches a kernel, which is not simulated", launching.place);
    const harness::NoWayOut no_way_out;
    runtime_mutex().lock();
    if (!may_launch(launching)) {
        runtime_mutex().unlock();
        return {};
    }
    CurrentLaunch& now = current_launch();
    const ProgramOptions& o = program_options();
    const Configuration& c = launching.configuration;
    Settings settings;
    settings.machine = &machine();
    settings.exact = o.threads <= 1;
    settings.sample = uint64_t(o.blocks);
    settings.device = current_device();
    settings.several = device_count() > 1;
    settings.peers = peers_of(current_device());
    settings.trace = trace_of(launching, launches_finished() + 1);
    settings.drawn = !o.page.empty();
    settings.block_done = block_done;
    settings.prints = [](const char* text) { print_later(current_launch().work, text); };
    settings.bad_address = host_address_text;
    use_variables_of(current_device());
    const uint64_t blocks = uint64_t(c.grid.x) * c.grid.y * c.grid.z;
    const int queue = queue_of(static_cast<cudaStream_t>(c.stream));
    now.work = timeline().begin_work(queue, blocks, name_of(launching), launching.place, true);
    const Clock& clock = timeline().clock_of(now.work.queue);
    now.window = clock.window;
    now.beside = timeline().beside(now.work, clock);
    // The host may meet launches that have ended, so what they did is kept.
    settings.beside = now.beside.empty() && !shares_memory_with_host() ? nullptr : &now.beside;
    if (host_threads() != o.threads) set_host_threads(o.threads);
    open_device_memory();
    for (size_t i = 0; i < launching.passed_count; ++i)
        move_addresses(reinterpret_cast<void*>(launching.passed[i].begin), launching.passed[i].bytes);
    if (!now.progress && isatty(STDERR_FILENO))
        now.progress = std::make_unique<harness::Progress>(program_invocation_short_name);
    now.title = title_of(name_of(launching), c.grid, c.block, c.shared_bytes);
    now.begun = std::chrono::steady_clock::now();
    now.told = o.silent || now.told_of.count(name_of(launching));
    show_progress();
    set_running(true);
    return settings;
}

// Notes the findings of a launch, and returns the error of the first that ended its kernel.
cudaError_t note_findings(const std::string& kernel, const Report& report)
{
    cudaError_t error = cudaSuccess;
    const bool told = reported_kernel(kernel);
    for (const Fault& f : report.faults) {
        if (error == cudaSuccess) error = f.asserted ? cudaErrorAssert : cudaError_t(f.kind->cuda_error);
        if (!told) continue;
        // From launch to launch, the same fault at the same lines is one finding.
        const uint32_t first = place_number(return_address(f.first));
        const uint32_t second = f.second ? place_number(return_address(f.second)) : 0;
        const std::string key = format("%s %s %u %u ", kernel.c_str(), f.kind->id, first, second);
        program_finding(finding_of(f, kernel, report.grid, report.block), key + f.memory + f.text);
    }
    return error;
}

void end_launch(const Launching& launching, const Report& report)
{
    const harness::NoWayOut no_way_out;
    CurrentLaunch& now = current_launch();
    kernel_stopped();
    if (now.told) now.told_of.insert(name_of(launching));
    if (now.progress) now.progress->clear();
    for (size_t i = 0; i < launching.passed_count; ++i)
        move_addresses_back(reinterpret_cast<void*>(launching.passed[i].begin), launching.passed[i].bytes,
                            launching.passed[i].begin);
    note_uses(now.work);
    close_device_memory();
    const harness::LaunchCounts counts = counts_of(report, machine(), true);
    timeline().end_work(now.work, (now.work.blocks + report.resident_blocks - 1) / report.resident_blocks);
    note_peers(current_device(), now.window, report.peers);
    const cudaError_t error = note_findings(name_of(launching), report);
    add_launch(launching, counts);
    if (report.ended) count_as_written();
    if (program_options().threads > 1)
        program_note(
            "no search for races and uninitialized loads in global memory: it needs one host thread; remove --threads");
    if (error != cudaSuccess) kernel_failed(launching, error);
    runtime_mutex().unlock();
    set_running(false);
}

class ProgramLauncher : public Launcher {
    void launch(const Launching& launching, const Code& code) override
    {
        if (const auto settings = begin_launch(launching)) end_launch(launching, run_grid(launching, code, *settings));
    }
};

}  // namespace

void use_program_launcher()
{
    use_launcher(new ProgramLauncher);  // never destroyed: exit handlers use it
}

}  // namespace sim
