#include "counts_csv.h"

#include <cerrno>
#include <vector>

#include "../../common/base/commit.h"
#include "../../common/base/csv.h"
#include "count_rows.h"
#include "options.h"

namespace sim {
namespace {

void add(std::vector<std::string>& names, std::vector<std::string>& cells, const std::vector<Value>& values)
{
    for (const Value& value : values) {
        names.push_back(value.name);
        cells.push_back(value.text);
    }
}

}  // namespace

std::string counts_csv()
{
    const std::string date = harness::utc_now();
    std::string text;
    std::vector<std::string> names;
    const auto line = [&](const Launches& launches, const harness::AccessSite& site) {
        names = {"date_utc", "commit", "machine", "program"};
        std::vector<std::string> cells{date, harness::build_commit, machine().label, program_invocation_short_name};
        add(names, cells, launch_values(launches));
        add(names, cells, access_values(site));
        return harness::csv_line(cells);
    };
    for (const Launches& launches : all_launches())
        for (const harness::AccessSite& site : launches.counts.sites) text += line(launches, site);
    if (names.empty()) line({}, {});
    return harness::csv_line(names) + text;
}

}  // namespace sim
