#include "results_csv.h"

#include <functional>

#include "base/commit.h"
#include "base/csv.h"
#include "figures.h"
#include "processes.h"

namespace harness {
namespace {

// All that a cell can depend on.
struct Line {
    const Results& run;
    const Result& row;
    const std::string& date;
    std::optional<Prediction> model;
    std::optional<OverCopy> over;
};

using Cell = std::function<std::string(const Line&)>;
using Counts = LaunchCounts;
using Timing = Result::Timing;

struct Column {
    const char* name;
    Cell cell;
};

// The next five make cells that only some rows have. The others leave them blank.
Cell timed(std::string (*cell)(const Line&, const Timing&))
{
    return [cell](const Line& l) { return l.row.timing ? cell(l, *l.row.timing) : ""; };
}

Cell one_launch(std::string (*cell)(const Line&, const Timing&))
{
    return [cell](const Line& l) { return l.row.one_launch ? cell(l, *l.row.one_launch) : ""; };
}

Cell counted(std::string (*cell)(const Counts&))
{
    return [cell](const Line& l) { return l.row.counts ? cell(*l.row.counts) : ""; };
}

Cell of_model(std::string (*cell)(const Line&, const Prediction&, const Counts&))
{
    return [cell](const Line& l) { return l.model ? cell(l, *l.model, *l.row.counts) : ""; };
}

Cell between(std::string (*cell)(const Line&, const Counts&))
{
    return [cell](const Line& l) { return l.row.gpus && l.row.counts ? cell(l, *l.row.counts) : ""; };
}

std::string percent_of_peer_copies(const Line& l, const Timing&)
{
    const double share = share_of_peer_copies(l.run, l.row);
    return share > 0 ? fixed(100 * share, 2) : "";
}

std::string crossing(const Line& l, const Timing&)
{
    return fixed(crossing_bytes(l.run.width, l.run.height, l.row.gpus, bytes_of(l.run.type)), 0);
}

std::string bandwidth_text(double gbs) { return gbs > 0 ? gbs_text(gbs) : ""; }
std::string memory_text(const Line& l, const Timing& t) { return t.gbs > 0 ? place_text(l.row, t) : ""; }
std::string partition_map(const Counts& c) { return !c.partitions ? "" : c.map_assumed ? "assumed" : "published"; }

std::string percent_of_copy(const Line& l, const Timing& t)
{
    const bool comparable = t.gbs > 0 && !l.row.bus && l.run.copy_gbs > 0;
    return comparable ? percent(t.gbs / l.run.copy_gbs) : "";
}

std::string model_bandwidth(const Line& l, const Prediction& p, const Counts&)
{
    return gbs_text(gbs_of(l.run, l.row, p.ms));
}

std::string first_launch(const Line& l)
{
    const double ms = l.run.device.first_launch_ms;
    return ms > 0 ? fixed(ms, 1) : "";
}

// Every column of the file, in its order: its name and its cells.
const std::vector<Column>& columns()
{
    static const std::vector<Column> all = {
        {"date_utc", [](const Line& l) { return l.date; }},
        {"commit", [](const Line&) -> std::string { return build_commit; }},
        {"backend", [](const Line& l) { return l.run.device.backend; }},
        {"machine", [](const Line& l) { return l.run.device.machine; }},
        {"driver", [](const Line& l) { return l.run.device.driver; }},
        {"step", [](const Line& l) { return l.row.step; }},
        {"kernel", [](const Line& l) { return l.row.kernel; }},
        {"source_row", [](const Line& l) { return l.row.row; }},
        {"produces", [](const Line& l) -> std::string { return name_of(l.row.expected.what); }},
        {"type", [](const Line& l) -> std::string { return name_of(l.run.type); }},
        {"element_bytes", [](const Line& l) { return number(bytes_of(l.run.type)); }},
        {"width", [](const Line& l) { return number(l.run.width); }},
        {"height", [](const Line& l) { return number(l.run.height); }},
        {"verified", [](const Line& l) -> std::string { return l.row.right ? "yes" : "no"; }},
        {"samples", timed([](const Line&, const Timing& t) { return number(t.samples); })},
        {"passes_per_sample", timed([](const Line&, const Timing& t) { return number(t.passes_per_sample); })},
        {"buffers", timed([](const Line&, const Timing& t) { return number(t.buffers); })},
        {"working_set_bytes", timed([](const Line&, const Timing& t) { return number(t.working_set_bytes); })},
        {"l2_bytes", timed([](const Line& l, const Timing&) { return number(l.run.device.l2_bytes); })},
        {"time_median_ms", timed([](const Line&, const Timing& t) { return ms_text(t.ms.median); })},
        {"time_min_ms", timed([](const Line&, const Timing& t) { return ms_text(t.ms.min); })},
        {"time_spread_percent", timed([](const Line&, const Timing& t) { return percent(t.ms.spread); })},
        {"bandwidth_gbs", timed([](const Line&, const Timing& t) { return bandwidth_text(t.gbs); })},
        {"bandwidth_percent_of_memcpy", timed(percent_of_copy)},
        {"dram_peak_gbs",
         timed([](const Line& l, const Timing&) { return bandwidth_text(l.run.device.dram_peak_gbs); })},
        {"memory", timed(memory_text)},
        {"global_load_requests", counted([](const Counts& c) { return number(c.requests(global, false)); })},
        {"global_load_transactions", counted([](const Counts& c) { return number(c.units(global, false)); })},
        {"global_store_requests", counted([](const Counts& c) { return number(c.requests(global, true)); })},
        {"global_store_transactions", counted([](const Counts& c) { return number(c.units(global, true)); })},
        {"global_bytes_moved", counted([](const Counts& c) { return number(c.bytes_moved()); })},
        {"coalesced_percent", counted(coalesced_text)},
        {"shared_load_requests", counted([](const Counts& c) { return number(c.requests(shared, false)); })},
        {"shared_load_wavefronts", counted([](const Counts& c) { return number(c.units(shared, false)); })},
        {"shared_store_requests", counted([](const Counts& c) { return number(c.requests(shared, true)); })},
        {"shared_store_wavefronts", counted([](const Counts& c) { return number(c.units(shared, true)); })},
        {"worst_conflict", counted([](const Counts& c) { return number(c.worst_conflict()); })},
        {"busiest_partition_of_loads",
         counted([](const Counts& c) -> std::string { return c.partitions ? fixed(c.busiest_read, 3) : ""; })},
        {"busiest_partition_of_stores",
         counted([](const Counts& c) -> std::string { return c.partitions ? fixed(c.busiest_write, 3) : ""; })},
        {"partition_map", counted(partition_map)},
        {"model_bursts",
         of_model([](const Line&, const Prediction&, const Counts& c) { return number(c.model_bursts); })},
        {"model_scattered_bursts",
         of_model([](const Line&, const Prediction&, const Counts& c) { return number(c.model_scattered); })},
        {"model_barriers",
         of_model([](const Line&, const Prediction&, const Counts& c) { return fixed(c.model_waves, 3); })},
        {"model_time_ms", of_model([](const Line&, const Prediction& p, const Counts&) { return ms_text(p.ms); })},
        {"model_bandwidth_gbs", of_model(model_bandwidth)},
        {"model_limit",
         of_model([](const Line&, const Prediction& p, const Counts&) -> std::string { return p.limit; })},
        {"accesses", counted([](const Counts& c) { return number(c.accesses()); })},
        {"block", [](const Line& l) { return l.row.block; }},
        {"one_launch_passes", one_launch([](const Line&, const Timing& t) { return number(t.passes_per_sample); })},
        {"one_launch_time_median_ms", one_launch([](const Line&, const Timing& t) { return ms_text(t.ms.median); })},
        {"one_launch_bandwidth_gbs", one_launch([](const Line&, const Timing& t) { return bandwidth_text(t.gbs); })},
        {"one_launch_memory", one_launch(memory_text)},
        {"first_launch_ms", first_launch},
        {"shared_bytes_per_block", counted([](const Counts& c) { return number(c.shared_bytes); })},
        {"launches", counted([](const Counts& c) { return number(c.launched.launches); })},
        {"blocks_launched", counted([](const Counts& c) { return number(c.launched.blocks); })},
        {"warps_launched", counted([](const Counts& c) { return number(c.launched.warps); })},
        {"barriers_of_warps", counted([](const Counts& c) { return number(c.launched.barriers); })},
        {"model_time_over_copy", [](const Line& l) -> std::string { return l.over ? fixed(l.over->ratio, 3) : ""; }},
        {"model_time_over_copy_limit", [](const Line& l) -> std::string { return l.over ? l.over->limit : ""; }},
        {"model_next_limit",
         of_model([](const Line&, const Prediction& p, const Counts&) { return std::string(p.next); })},
    };
    return all;
}

// They follow where a matrix was spread over several GPUs.
const std::vector<Column>& columns_of_several()
{
    static const std::vector<Column> all = {
        {"gpus", [](const Line& l) { return l.row.gpus ? number(l.row.gpus) : ""; }},
        {"processes", [](const Line&) { return number(world().ranks); }},
        {"bytes_between_gpus", between([](const Line&, const Counts& c) { return number(c.bytes_between_gpus()); })},
        {"bytes_asked_between_gpus",
         between([](const Line&, const Counts& c) { return number(c.bytes_asked_between_gpus()); })},
        {"busiest_receiver",
         between([](const Line&, const Counts& c) { return fixed(c.between.busiest_receiver, 4); })},
        {"peer_store_requests", between([](const Line&, const Counts& c) { return number(c.between.stores); })},
        {"peer_load_requests", between([](const Line&, const Counts& c) { return number(c.between.loads); })},
        {"messages", between([](const Line&, const Counts& c) { return number(c.between.messages); })},
        {"message_bytes", between([](const Line&, const Counts& c) { return number(c.between.message_bytes); })},
        {"link", between([](const Line& l, const Counts&) -> std::string { return l.run.link->name; })},
        {"link_gbs", between([](const Line& l, const Counts&) { return gbs_text(l.run.link->gbs); })},
        {"model_crossing_ms",
         between([](const Line& l, const Counts& c) { return fixed(crossing_ms(c.between, *l.run.link), 6); })},
        {"crossing_bytes_of_a_gpu", timed(crossing)},
        {"gbs_out_of_each_gpu",
         timed([](const Line& l, const Timing&) { return fixed(gbs_out_of_each_gpu(l.run, l.row), 2); })},
        {"percent_of_peer_copies", timed(percent_of_peer_copies)},
    };
    return all;
}

std::vector<Column> columns_for(bool several)
{
    std::vector<Column> chosen = columns();
    if (several) chosen.insert(chosen.end(), columns_of_several().begin(), columns_of_several().end());
    return chosen;
}

Line line_of(const Results& results, const Result& row, const std::string& date)
{
    Line line{results, row, date, {}, {}};
    if (!row.counts) return line;
    const Machine& machine = *results.device.simulated;
    line.model = modelled(results, machine, row);
    line.over = over_copy(results, machine, row);
    return line;
}

bool any_on_several(const std::vector<Results>& all)
{
    for (const Results& results : all)
        for (const Result& row : results.rows)
            if (row.gpus) return true;
    return false;
}

}  // namespace

std::string csv(const std::vector<Results>& all, const std::string& date)
{
    const std::vector<Column> chosen = columns_for(any_on_several(all));
    std::vector<std::string> cells;
    for (const Column& column : chosen) cells.push_back(column.name);
    std::string text = csv_line(cells);
    for (const Results& results : all)
        for (const Result& row : results.rows) {
            if (!row.refused.empty()) continue;
            const Line line = line_of(results, row, date);
            cells.clear();
            for (const Column& column : chosen) cells.push_back(column.cell(line));
            text += csv_line(cells);
        }
    return text;
}

NamedCells named_cells(const Results& results, const Result& row, const std::string& date)
{
    const Line line = line_of(results, row, date);
    NamedCells cells;
    for (const Column& column : columns_for(row.gpus)) cells.push_back({column.name, column.cell(line)});
    return cells;
}

}  // namespace harness
