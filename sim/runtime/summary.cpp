#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "../../common/base/error.h"
#include "../../common/base/explain.h"
#include "kernels.h"
#include "notes.h"
#include "options.h"
#include "reports.h"
#include "traffic.h"

namespace sim {
namespace {

using harness::format;

std::string counted(uint64_t n, const char* what)
{
    return format("%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

uint64_t blocks_of(dim3 grid) { return uint64_t(grid.x) * grid.y * grid.z; }

std::string title(const KernelLaunches& l)
{
    const harness::Launched& ran = l.counts.launched;
    const std::string title = title_of(l.name, l.grid, l.block, l.dynamic_bytes) + " x " + std::to_string(ran.launches);
    const uint64_t all = ran.launches * blocks_of(l.grid);
    if (!program_options().blocks || ran.blocks == all) return title;
    return title +
           format(", of a sample: %llu of %llu blocks", (unsigned long long)ran.blocks, (unsigned long long)all);
}

void print_findings()
{
    for (const harness::Finding& finding : program_findings()) printf("%s", finding_lines(finding).c_str());
}

std::string model_text(const KernelLaunches& l)
{
    const std::optional<harness::Prediction> model = model_of(l);
    if (!model) return "";
    return format("  model of the %s: %.4g ms%s; limited by %s, then by %s\n", machine().label.c_str(), model->ms,
                  l.counts.launched.launches > 1 ? " a launch" : "", model->limit, model->next);
}

void print_counts()
{
    for (const KernelLaunches& l : all_launches()) {
        const auto text = program_options().explain ? harness::explanation : harness::summary;
        printf("%s", text(title(l), l.counts).c_str());
        if (l.counts.sites.empty()) printf("  no access to memory\n");
        printf("%s", model_text(l).c_str());
    }
    printf("%s", traffic_text().c_str());
    if (!program_options().explain && !all_launches().empty())
        printf("\nEach access, and the occupancy: --explain, or --page FILE.html for the source, with requests "
               "drawn.\n");
    if (!all_launches().empty()) printf("\n");
    if (std::any_of(all_launches().begin(), all_launches().end(), model_of))
        printf("The model's times are not measured. They are for data that come from the DRAM; what lies in the L2 is "
               "faster.\nArithmetic is not in the model.\n\n");
}

}  // namespace

void print_summary()
{
    const ProgramOptions& o = program_options();
    if (o.silent) {
        print_findings();
        return;
    }
    printf("\nSimulated: %s (compute capability %d.%d). Counts are sums over the launches of a kernel. "
           "The simulator measures no time.\n",
           machine().label.c_str(), machine().major, machine().minor);
    if (o.blocks)
        printf("A sample: no more than %s of each launch ran, so the program's results are not right. "
               "There was no search for uninitialized loads.\n",
               counted(uint64_t(o.blocks), "block").c_str());
    if (!o.quiet) print_counts();
    for (const std::string& note : program_notes()) printf("note: %s\n", note.c_str());
    print_findings();
    std::set<std::string> names;
    for (const KernelLaunches& l : all_launches()) names.insert(l.name);
    const uint64_t launches = launches_reported();
    printf("try: %s, %llu launch%s, %s\n", counted(names.size(), "kernel").c_str(), (unsigned long long)launches,
           launches == 1 ? "" : "es", counted(program_findings().size(), "finding").c_str());
}

}  // namespace sim
