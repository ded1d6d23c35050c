#include "one_shape.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/finding_kinds.h"
#include "select.h"
#include "trace_lines.h"

namespace harness {
namespace {

constexpr int clock_samples = 20;

// Says before a long run how long it will be. The simulator verifies about so many elements a second, of one kernel, on
// two cores; kernels whose accesses are not coalesced take up to three times as long.
void announce_time(const Device& device, size_t kernels, Shape shape, const Task& task, Progress& progress)
{
    constexpr double elements_per_s = 10e6, long_s = 10;
    if (device.info().backend != "sim") return;
    const double elements = double(shape.width) * shape.height * double(kernels) * std::max(task.reps, 1);
    if (elements < long_s * elements_per_s) return;
    progress.announce(format("%zu kernel%s on %dx%d elements take about %.0f s or longer on the simulator; a smaller "
                             "--size takes less", kernels, kernels == 1 ? "" : "s", shape.width, shape.height,
                             elements / elements_per_s));
}

// Refuses a trace that the disk has no room for; says how much it will be.
void announce_trace(const Result& result, uint64_t bytes, uint64_t requests, const WholeFile& file)
{
    const std::string takes = size_text(bytes), path = file.path();
    const auto count = (unsigned long long)requests;
    if (bytes / 2 > file.room())
        refuse(format(
            "--trace %s: the %llu requests of %s take about %s, and the disk has room for %s: choose a smaller matrix",
            path.c_str(), count, result.kernel.c_str(), takes.c_str(), size_text(file.room()).c_str()));
    printf("--trace %s: %s%s: %llu requests, about %s\n",
           path.c_str(), result.kernel.c_str(), result.label.c_str(), count, takes.c_str());
    fflush(stdout);
}

// Writes the requests of one kernel that was found right.
void write_trace(Bench& bench, Contender& c, const Results& results, WholeFile& file, Progress& progress)
{
    const std::string begin = trace_begin(results, c.result);
    uint64_t requests = 0;
    for (const AccessSite& site : c.result.counts->sites)
        if (site.in(global) || site.memory == shared) requests += site.requests;
    progress.clear();
    announce_trace(c.result, trace_bytes(begin, requests), requests, file);
    bench.trace(c, [&](const TracedRequest& request) { file.append(trace_line(begin, request)); });
    file.check();
}

// --print: the matrices of one kernel, on the terminal.
Printed print_matrices(Bench& bench, const Contender& c, Progress& progress)
{
    progress.clear();
    const Printed printed{bench.numbered_input(), bench.numbered_output(c)};
    printf("\nidata, each element as its number:\n%s\nodata after %s:\n%s",
           printed.idata.text().c_str(), c.result.kernel.c_str(), printed.odata.text().c_str());
    return printed;
}

// Contenders of one layout share their memory, and take turns. `all`: the contenders, whose account is in their
// order.
void run_group(Device& device, const std::vector<Contender*>& group, const std::vector<Contender>& all, Shape shape,
               const Task& task, const Results& results, const Listeners& to)
{
    const int reps = task.reps ? task.reps : device.has_clock() ? clock_samples : 1;
    Expected layout = group.front()->expected();
    layout.finite = std::any_of(group.begin(), group.end(), [](const Contender* c) { return c->expected().finite; });
    const bool timed = device.has_clock() && !task.once;
    Bench bench(device, task.type, shape, layout, timed, to.progress);
    for (Contender* c : group) {
        to.progress.part(size_t(c - all.data()) + 1, all.size());
        bench.verify(*c, device.has_clock() ? 1 : reps, task.explain, to.complain, task.drawn);
        if (!task.print || !c->kernel || !c->result.refused.empty()) continue;
        Printed printed = print_matrices(bench, *c, to.progress);
        if (to.account) to.account->printed[c - all.data()] = std::move(printed);
    }
    to.progress.part(1, 1);
    check_distinct(group, to.complain);
    if (to.traced)
        for (Contender* c : group)
            if (c->result.right && c->result.counts) write_trace(bench, *c, results, *to.traced, to.progress);
    if (timed) bench.measure(group, reps, task.one_launch, to.complain);
    for (const Contender* c : group)
        if (c->kernel && c->kernel->peer) c->kernel->peer->release();
}

}  // namespace

Results run_shape(Device& device, std::vector<Contender> contenders, Shape shape, const Task& task, const Listeners& to)
{
    Results results{device.info(), task.type, shape.width, shape.height, 0, {}, &link_named(task.link)};
    if (!device.info().copy.empty()) contenders.insert(contenders.begin(), copy_contender(device));
    if (to.account) to.account->printed.resize(contenders.size());
    announce_time(device, contenders.size(), shape, task, to.progress);
    for (const std::vector<Contender*>& group : by_layout(contenders))
        run_group(device, group, contenders, shape, task, results, to);
    for (const Contender& c : contenders) {
        if (!c.result.refused.empty()) to.complain(c.result.kernel, {kinds::refused_launch, c.result.refused});
        if (!c.kernel && c.result.timing) results.copy_gbs = c.result.timing->gbs;
        results.rows.push_back(c.result);
    }
    return results;
}

}  // namespace harness
