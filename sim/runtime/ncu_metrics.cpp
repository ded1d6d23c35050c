#include "ncu_metrics.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

namespace sim {
namespace {

// Every cell of the file is in quotes, and every line ends with a comma: it is CSV, which Python reads, and also a list
// of C++ strings. `column` is the metric's name in the data of tests/data. A row without a `count` is for the tools
// alone.
const char* const metric_cells[] = {
#include "ncu_metrics.csv"
};

enum MetricColumn { metric_column, metric_name, metric_count, metric_way, metric_since, metric_columns };

static_assert(std::size(metric_cells) % metric_columns == 0, "a line of ncu_metrics.csv has too few or too many cells");

std::vector<NcuCount> read_counts()
{
    std::vector<NcuCount> counts;
    for (size_t i = metric_columns; i < std::size(metric_cells); i += metric_columns) {  // after the heading
        const char* const* cells = metric_cells + i;
        const std::string name = cells[metric_count];
        if (name.empty()) continue;
        auto count = std::find_if(counts.begin(), counts.end(), [&](const NcuCount& c) { return c.name == name; });
        if (count == counts.end()) count = counts.insert(count, {name, {}});
        count->ways.resize(std::max(count->ways.size(), size_t(std::atoi(cells[metric_way]))));
        count->ways[size_t(std::atoi(cells[metric_way])) - 1].push_back(
            {cells[metric_name], int(std::atof(cells[metric_since]) * 10 + 0.5)});
    }
    return counts;
}

std::set<std::string> read_names()
{
    std::set<std::string> names;
    for (const NcuCount& count : ncu_counts())
        for (const std::vector<NcuMetric>& way : count.ways)
            for (const NcuMetric& metric : way) names.insert(metric.name);
    return names;
}

}  // namespace

const std::vector<NcuCount>& ncu_counts()
{
    static const std::vector<NcuCount>& counts = *new std::vector<NcuCount>(read_counts());  // used until the very end
    return counts;
}

bool is_counted(const std::string& metric)
{
    static const std::set<std::string>& names = *new std::set<std::string>(read_names());  // used until the very end
    return names.count(metric) > 0;
}

}  // namespace sim
