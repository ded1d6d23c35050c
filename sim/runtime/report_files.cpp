// The files of --csv and --json: the same counts of kernels and of their accesses, under the same names.

#include <cerrno>

#include "../../common/base/columns.h"
#include "../../common/base/commit.h"
#include "../../common/base/csv.h"
#include "../../common/base/error.h"
#include "../../common/base/page.h"
#include "kernels.h"
#include "notes.h"
#include "options.h"
#include "reports.h"

namespace sim {
namespace {

using harness::json_array;
using harness::json_object;
using harness::json_text;
using harness::JsonMembers;
using harness::JsonValues;

// The counts of a kernel in one shape.
harness::Values launch_values(const KernelLaunches& l)
{
    return {{"kernel", l.name},
            {"grid_x", l.grid.x},
            {"grid_y", l.grid.y},
            {"grid_z", l.grid.z},
            {"block_x", l.block.x},
            {"block_y", l.block.y},
            {"block_z", l.block.z},
            {"dynamic_shared_bytes", l.dynamic_bytes},
            {"shared_bytes_per_block", l.counts.shared_bytes},
            {"launches", l.counts.launched.launches},
            {"blocks_run", l.counts.launched.blocks}};
}

std::string json_kernel(const KernelLaunches& launches)
{
    JsonValues places;
    for (const harness::AccessSite& site : launches.counts.sites)
        places.push_back(json_access(site));
    JsonMembers members = members_of(launch_values(launches));
    const std::optional<harness::Prediction> model = model_of(launches);
    members.push_back({"model_time_ms", model ? harness::format("%.6g", model->ms) : "null"});
    members.push_back({"model_limit", model ? json_text(model->limit) : "null"});
    members.push_back({"model_next_limit", model ? json_text(model->next) : "null"});
    members.push_back({"places", json_array(places)});
    return json_object(members);
}

}  // namespace

std::string counts_csv()
{
    const std::string date = harness::utc_now();
    std::string text;
    std::vector<std::string> names;
    const auto line = [&](const KernelLaunches& launches, const harness::AccessSite& site) {
        names = {"date_utc", "commit", "machine", "program"};
        std::vector<std::string> cells{date, harness::build_commit, machine().label, program_invocation_short_name};
        for (const harness::Values& values : {launch_values(launches), site_values(site)})
            for (const harness::Value& value : values) {
                names.push_back(value.name);
                cells.push_back(value.text);
            }
        return harness::csv_line(cells);
    };
    for (const KernelLaunches& launches : all_launches())
        for (const harness::AccessSite& site : launches.counts.sites) text += line(launches, site);
    if (names.empty()) line({}, {});
    return harness::csv_line(names) + text;
}

std::string report_json()
{
    const int blocks = program_options().blocks;
    JsonValues kernels, notes, findings;
    for (const KernelLaunches& launches : all_launches()) kernels.push_back(json_kernel(launches));
    for (const std::string& note : program_notes()) notes.push_back(json_text(note));
    for (const harness::Finding& finding : program_findings())
        findings.push_back(json_object(finding_members(finding)));
    return json_object({{"version", harness::record_version},
                        {"date_utc", json_text(harness::utc_now())},
                        {"commit", json_text(harness::build_commit)},
                        {"machine", json_text(machine().label)},
                        {"program", json_text(program_invocation_short_name)},
                        {"most_blocks_of_a_launch", blocks ? std::to_string(blocks) : "null"},
                        {"kernels", json_array(kernels)},
                        {"findings", json_array(findings)},
                        {"notes", json_array(notes)}}) +
           "\n";
}

std::string report_page()
{
    harness::Page page{program_invocation_short_name, &machine(), {}, program_findings(), report_json(),
                       program_options().against};
    for (const KernelLaunches& l : all_launches()) {
        const std::string times = l.counts.launched.launches > 1
                                      ? harness::format(" × %llu", (unsigned long long)l.counts.launched.launches) : "";
        page.kernels.push_back({l.name, title_of("", l.grid, l.block, l.dynamic_bytes) + times, &l.counts, model_of(l),
                                "a launch"});
    }
    return page_html(page);
}

}  // namespace sim
