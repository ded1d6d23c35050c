#include "results.h"

#include <cstdio>

#include "../common/base/commit.h"
#include "../common/base/csv.h"
#include "../common/base/statistics.h"

using namespace harness;

namespace {

std::string number(double value, const char* how) { return format(how, value); }

// ms of plain copies of what must cross; 0 if they were not timed.
double bound_ms(const std::vector<Row>& rows)
{
    for (const Row& r : rows)
        if (r.kernel == "copyToPeers" && !r.ms.empty()) return summarize(r.ms).median;
    return 0;
}

std::string percent_of(double bound, double ms, const char* how, const char* none) { return bound == 0 ? none : number(100 * bound / ms, how); }

}  // namespace

void print(const std::vector<Row>& rows, const Setting& setting)
{
    if (setting.simulated) printf("\n%-27s %9s  %11s  %11s  %8s  %9s  %7s  %8s  %9s\n", "kernel", "result", "peer stores", "peer loads", "messages", "MB cross", "asked %", "busiest", "model ms");
    else printf("\n%-27s %9s  %9s  %8s  %20s  %20s\n", "kernel", "result", "ms", "spread", "GB/s out of each GPU", "% of copyToPeers");
    const double bound = bound_ms(rows);
    for (const Row& r : rows) {
        const char* result = r.verified ? "verified" : "-";
        if (!r.refused.empty()) {
            printf("%-27s  not run: %s\n", r.kernel.c_str(), r.refused.c_str());
        } else if (setting.simulated) {
            const sim::Traffic& t = r.traffic;
            const double message_bytes = double(total(t.message_bytes)), bytes = double(total(t.bytes)) + message_bytes;
            printf("%-27s %9s  %11llu  %11llu  %8llu  %9.3f  %7s  %8s  %9.4f\n", r.kernel.c_str(), result, total(t.stores), total(t.loads), total(t.messages), bytes / 1e6,
                   bytes == 0 ? "-" : number(100 * (double(total(t.asked)) + message_bytes) / bytes, "%.1f").c_str(),
                   t.busiest_receiver == 0 ? "-" : number(t.busiest_receiver, "%.2f").c_str(), model_ms(t, setting.link));
        } else if (r.ms.empty()) {
            printf("%-27s %9s\n", r.kernel.c_str(), result);
        } else {
            const Summary s = summarize(r.ms);
            printf("%-27s %9s  %9.4f  %7.1f%%  %20.1f  %20s\n", r.kernel.c_str(), result, s.median, 100 * s.spread, setting.crossing / (s.median * 1e6),
                   percent_of(bound, s.median, "%.1f", "-").c_str());
        }
    }
}

void print_receivers(const std::vector<Row>& rows)
{
    for (const Row& r : rows)
        if (r.refused.empty() && r.traffic.pictured > 0)
            printf("\n  %s: to whom each GPU's data goes, from the first blocks to the last (*: to no GPU more than half)\n%s", r.kernel.c_str(), receivers(r.traffic).c_str());
}

std::string csv_heading()
{
    return csv_line({"date_utc", "commit", "backend", "machine", "driver", "processes", "gpus", "kernel", "type", "width", "height", "result_right", "samples", "time_median_ms",
                     "time_min_ms", "time_spread_percent", "crossing_bytes_of_a_gpu", "gbs_out_of_each_gpu", "percent_of_peer_copies", "peer_store_requests", "peer_load_requests",
                     "bytes_between_gpus", "bytes_asked", "messages", "message_bytes", "busiest_receiver", "link", "link_gbs", "model_ms"});
}

std::string csv_lines(const std::vector<Row>& rows, const Setting& setting)
{
    constexpr size_t measured = 7, counted = 10;  // cells
    const double bound = bound_ms(rows);
    std::string text;
    for (const Row& r : rows) {
        if (!r.refused.empty()) continue;
        std::vector<std::string> cells{utc_now(), build_commit, setting.simulated ? "sim" : "cuda", setting.machine, setting.driver, std::to_string(setting.processes),
                                       std::to_string(setting.gpus), r.kernel, name_of(setting.type), std::to_string(setting.shape.width), std::to_string(setting.shape.height),
                                       r.verified ? "yes" : ""};
        if (r.ms.empty()) {
            cells.resize(cells.size() + measured);
        } else {
            const Summary s = summarize(r.ms);
            for (const std::string& cell : {std::to_string(r.ms.size()), number(s.median, "%.5f"), number(s.min, "%.5f"), number(100 * s.spread, "%.2f"), number(setting.crossing, "%.0f"),
                                            number(setting.crossing / (s.median * 1e6), "%.2f"), percent_of(bound, s.median, "%.2f", "")})
                cells.push_back(cell);
        }
        if (setting.simulated) {
            const sim::Traffic& t = r.traffic;
            for (unsigned long long value : {total(t.stores), total(t.loads), total(t.bytes), total(t.asked), total(t.messages), total(t.message_bytes)}) cells.push_back(std::to_string(value));
            for (const std::string& cell : {number(t.busiest_receiver, "%.4f"), std::string(setting.link.name), number(setting.link.gbs, "%.1f"), number(model_ms(t, setting.link), "%.6f")})
                cells.push_back(cell);
        } else {
            cells.resize(cells.size() + counted);
        }
        text += csv_line(cells);
    }
    return text;
}
