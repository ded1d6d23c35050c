// Adds up launches for the report.
//
// In: the counts of one launch, by lines of the source. Out: one record for each kernel and shape, in the order of the
// first launches. A program may launch a kernel a million times, so counts are summed at once and no launch is kept.
// Numbers that are no sums, such as the busiest partition or the occupancy, are those of the last launch. The search
// for the record is linear in the kernels and shapes of the program, which are few.

#include "kernels.h"

#include <algorithm>
#include <set>

#include "../../common/base/error.h"
#include "../core/grid/simulator.h"
#include "filters.h"

namespace sim {

using harness::format;
using harness::LaunchCounts;

namespace {

struct Sums {
    std::vector<KernelLaunches> all;
    uint64_t finished = 0, reported = 0;
    std::set<std::string> left_out;  // kernels
};

Sums& sums()
{
    static Sums& sums = *new Sums;  // never destroyed: exit handlers use it
    return sums;
}

bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void add(LaunchCounts& sum, const LaunchCounts& more)
{
    LaunchCounts all = more;
    all.sites = std::move(sum.sites);
    for (const harness::AccessSite& site : more.sites) add_site(all.sites, site);
    all.launched.add(sum.launched);
    sum = std::move(all);
}

std::string text_of(dim3 d)
{
    if (d.y * d.z == 1) return std::to_string(d.x);
    return d.z == 1 ? format("(%u, %u)", d.x, d.y) : format("(%u, %u, %u)", d.x, d.y, d.z);
}

}  // namespace

const std::vector<KernelLaunches>& all_launches() { return sums().all; }
uint64_t launches_finished() { return sums().finished; }
uint64_t launches_reported() { return sums().reported; }
std::vector<std::string> kernels_left_out() { return {sums().left_out.begin(), sums().left_out.end()}; }

void add_launch(const Launching& launching, const LaunchCounts& counts)
{
    const Configuration& c = launching.configuration;
    const std::string name = name_of(launching);
    std::vector<KernelLaunches>& all = sums().all;
    ++sums().finished;
    if (!reported_kernel(name)) {
        sums().left_out.insert(name);
        return;
    }
    ++sums().reported;
    auto known = std::find_if(all.begin(), all.end(), [&](const KernelLaunches& l) {
        return l.name == name && same(l.grid, c.grid) && same(l.block, c.block) && l.dynamic_bytes == c.shared_bytes;
    });
    if (known == all.end()) known = all.insert(known, {name, c.grid, c.block, c.shared_bytes});
    add(known->counts, counts);
    if (machine().roofline.stream_gbs == 0) return;
    const harness::Prediction model = *predict(machine(), counts);
    known->model_ms += model.ms;
    if (model.ms > known->longest.ms) known->longest = model;
}

std::optional<harness::Prediction> model_of(const KernelLaunches& l)
{
    if (l.model_ms == 0 || program_options().blocks) return {};
    return harness::Prediction{l.model_ms / double(l.counts.launched.launches), l.longest.limit, l.longest.next};
}

std::string title_of(const std::string& kernel, dim3 grid, dim3 block, size_t dynamic_bytes)
{
    const std::string dynamic = dynamic_bytes ? ", " + std::to_string(dynamic_bytes) : "";
    return kernel + "<<<" + text_of(grid) + ", " + text_of(block) + dynamic + ">>>";
}

}  // namespace sim
