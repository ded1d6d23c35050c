// The table of columns is the file: a name, the rows that have a cell, and the cell.

#include "results_csv.h"


#include "base/commit.h"
#include "base/csv.h"
#include "figures.h"
#include "processes.h"

namespace harness {
namespace {

using Timing = Result::Timing;

// All that a cell can depend on. A pointer is null, and an optional is empty, where the row has no such thing.
struct Line {
    const Results& run;
    const Result& row;
    const std::string& date;
    const Timing* timing;
    const Timing* inside;  // one launch
    const LaunchCounts* counts;
    std::optional<Prediction> model;
    std::optional<OverCopy> over;
};

// The rows that have a cell. The others leave it blank.
enum class Of { every_row, timed, one_launch, counted, modelled, over_copy, gpus };

bool has_cell(Of rows, const Line& l)
{
    switch (rows) {
        case Of::every_row: return true;
        case Of::timed: return l.timing;
        case Of::one_launch: return l.inside;
        case Of::counted: return l.counts;
        case Of::modelled: return bool(l.model);
        case Of::over_copy: return bool(l.over);
        case Of::gpus: return l.row.gpus && l.counts;
    }
    return false;
}

struct Column {
    const char* name;
    Of rows;
    std::string (*text)(const Line&);
    std::string cell(const Line& line) const { return has_cell(rows, line) ? text(line) : ""; }
};

std::string bandwidth_text(double gbs) { return gbs > 0 ? gbs_text(gbs) : ""; }
std::string memory_text(const Line& l, const Timing& t) { return t.gbs > 0 ? came_from(l.row, t) : ""; }

std::string partition_text(const LaunchCounts& c, double busiest) { return c.partitions ? fixed(busiest, 3) : ""; }

std::string percent_of_copy(const Line& l)
{
    const bool comparable = l.timing->gbs > 0 && !l.row.bus && l.run.copy_gbs > 0;
    return comparable ? percent(l.timing->gbs / l.run.copy_gbs) : "";
}

std::string percent_of_peer_copies(const Line& l)
{
    const double share = share_of_peer_copies(l.run, l.row);
    return share > 0 ? fixed(100 * share, 2) : "";
}

std::string crossing(const Line& l)
{
    return fixed(crossing_bytes(l.run.width, l.run.height, l.row.gpus, bytes_of(l.run.type)), 0);
}

std::string first_launch(const Line& l)
{
    const double ms = l.run.device.first_launch_ms;
    return ms > 0 ? fixed(ms, 1) : "";
}

#define CELL(expression) [](const Line& l) -> std::string { return expression; }

const Column columns[] = {
    // clang-format off
    {"date_utc", Of::every_row, CELL(l.date)},
    {"commit", Of::every_row, [](const Line&) -> std::string { return build_commit; }},
    {"backend", Of::every_row, CELL(l.run.device.backend)},
    {"machine", Of::every_row, CELL(l.run.device.machine)},
    {"driver", Of::every_row, CELL(l.run.device.driver)},
    {"step", Of::every_row, CELL(l.row.step)},
    {"kernel", Of::every_row, CELL(l.row.kernel)},
    {"source_row", Of::every_row, CELL(l.row.row)},
    {"produces", Of::every_row, CELL(name_of(l.row.expected.what))},
    {"type", Of::every_row, CELL(name_of(l.run.type))},
    {"element_bytes", Of::every_row, CELL(number(bytes_of(l.run.type)))},
    {"width", Of::every_row, CELL(number(l.run.width))},
    {"height", Of::every_row, CELL(number(l.run.height))},
    {"verified", Of::every_row, CELL(l.row.right ? "yes" : "no")},
    {"samples", Of::timed, CELL(number(l.timing->samples))},
    {"passes_per_sample", Of::timed, CELL(number(l.timing->passes_per_sample))},
    {"buffers", Of::timed, CELL(number(l.timing->buffers))},
    {"working_set_bytes", Of::timed, CELL(number(l.timing->working_set_bytes))},
    {"l2_bytes", Of::timed, CELL(number(l.run.device.l2_bytes))},
    {"time_median_ms", Of::timed, CELL(ms_text(l.timing->ms.median))},
    {"time_min_ms", Of::timed, CELL(ms_text(l.timing->ms.min))},
    {"time_spread_percent", Of::timed, CELL(percent(l.timing->ms.spread))},
    {"bandwidth_gbs", Of::timed, CELL(bandwidth_text(l.timing->gbs))},
    {"bandwidth_percent_of_memcpy", Of::timed, percent_of_copy},
    {"dram_peak_gbs", Of::timed, CELL(bandwidth_text(l.run.device.dram_peak_gbs))},
    {"memory", Of::timed, CELL(memory_text(l, *l.timing))},
    {"global_bytes_moved", Of::counted, CELL(number(l.counts->bytes_moved()))},
    {"coalesced_percent", Of::counted, CELL(coalesced_text(*l.counts))},
    {"worst_conflict", Of::counted, CELL(number(l.counts->worst_conflict()))},
    {"busiest_partition_of_loads", Of::counted, CELL(partition_text(*l.counts, l.counts->busiest_read))},
    {"busiest_partition_of_stores", Of::counted, CELL(partition_text(*l.counts, l.counts->busiest_write))},
    {"partition_map", Of::counted,
     CELL(!l.counts->partitions ? "" : l.counts->map_assumed ? "assumed" : "published")},
    {"model_bursts", Of::modelled, CELL(number(l.counts->model_bursts))},
    {"model_scattered_bursts", Of::modelled, CELL(number(l.counts->model_scattered))},
    {"model_barriers", Of::modelled, CELL(fixed(l.counts->model_waves, 3))},
    {"model_time_ms", Of::modelled, CELL(ms_text(l.model->ms))},
    {"model_bandwidth_gbs", Of::modelled, CELL(gbs_text(gbs_of(l.run, l.row, l.model->ms)))},
    {"model_limit", Of::modelled, CELL(l.model->limit)},
    {"accesses", Of::counted, CELL(number(l.counts->accesses()))},
    {"block", Of::every_row, CELL(l.row.block)},
    {"one_launch_passes", Of::one_launch, CELL(number(l.inside->passes_per_sample))},
    {"one_launch_time_median_ms", Of::one_launch, CELL(ms_text(l.inside->ms.median))},
    {"one_launch_bandwidth_gbs", Of::one_launch, CELL(bandwidth_text(l.inside->gbs))},
    {"one_launch_memory", Of::one_launch, CELL(memory_text(l, *l.inside))},
    {"first_launch_ms", Of::every_row, first_launch},
    {"shared_bytes_per_block", Of::counted, CELL(number(l.counts->shared_bytes))},
    {"launches", Of::counted, CELL(number(l.counts->launched.launches))},
    {"blocks_launched", Of::counted, CELL(number(l.counts->launched.blocks))},
    {"warps_launched", Of::counted, CELL(number(l.counts->launched.warps))},
    {"barriers_of_warps", Of::counted, CELL(number(l.counts->launched.barriers))},
    {"model_time_over_copy", Of::over_copy, CELL(fixed(l.over->ratio, 3))},
    {"model_time_over_copy_limit", Of::over_copy, CELL(l.over->limit)},
    {"model_next_limit", Of::modelled, CELL(l.model->next)},
    // clang-format on
};

// These columns are added where a matrix was spread over several GPUs.
const Column columns_of_several[] = {
    // clang-format off
    {"gpus", Of::every_row, CELL(l.row.gpus ? number(l.row.gpus) : "")},
    {"processes", Of::every_row, [](const Line&) { return number(world().ranks); }},
    {"bytes_between_gpus", Of::gpus, CELL(number(l.counts->bytes_between_gpus()))},
    {"bytes_asked_between_gpus", Of::gpus, CELL(number(l.counts->bytes_asked_between_gpus()))},
    {"busiest_receiver", Of::gpus, CELL(fixed(l.counts->between.busiest_receiver, 4))},
    {"peer_store_requests", Of::gpus, CELL(number(l.counts->between.stores))},
    {"peer_load_requests", Of::gpus, CELL(number(l.counts->between.loads))},
    {"messages", Of::gpus, CELL(number(l.counts->between.messages))},
    {"message_bytes", Of::gpus, CELL(number(l.counts->between.message_bytes))},
    {"link", Of::gpus, CELL(l.run.link->name)},
    {"link_gbs", Of::gpus, CELL(gbs_text(l.run.link->gbs))},
    {"model_crossing_ms", Of::gpus, CELL(fixed(crossing_ms(l.counts->between, *l.run.link), 6))},
    {"crossing_bytes_of_a_gpu", Of::timed, crossing},
    {"gbs_out_of_each_gpu", Of::timed, CELL(fixed(gbs_out_of_each_gpu(l.run, l.row), 2))},
    {"percent_of_peer_copies", Of::timed, percent_of_peer_copies},
    // clang-format on
};

#undef CELL

// Calls visit(name, cell) for each column, where cell(line) is the text.
template <typename Visit>
void for_columns(bool several, Visit visit)
{
    for (const Column& column : columns) visit(column.name, [&](const Line& l) { return column.cell(l); });
    for (Space memory : {global, shared})
        for (bool store : {false, true})
            for (const AccessSum& each : access_sums) {
                const char* name = memory == global ? each.of_global : each.of_shared;
                if (!name) continue;
                visit(format("%s_%s_%s", memory == global ? "global" : "shared", store ? "store" : "load", name),
                      [&](const Line& l) { return l.counts ? number(l.counts->sum(each.sum, memory, store)) : ""; });
            }
    if (!several) return;
    for (const Column& column : columns_of_several) visit(column.name, [&](const Line& l) { return column.cell(l); });
}

Line line_of(const Results& results, const Result& row, const std::string& date)
{
    const auto pointer = [](const auto& part) { return part ? &*part : nullptr; };
    Line line{results, row, date, pointer(row.timing), pointer(row.one_launch), pointer(row.counts), {}, {}};
    if (!row.counts) return line;
    const Machine& machine = *results.device.simulated;
    line.model = modelled(results, machine, row);
    line.over = over_copy(results, machine, row);
    return line;
}

}  // namespace

std::string csv(const std::vector<Results>& all, const std::string& date)
{
    bool several = false;
    for (const Results& results : all)
        for (const Result& row : results.rows) several = several || row.gpus;
    std::vector<std::string> cells;
    for_columns(several, [&](const std::string& name, auto) { cells.push_back(name); });
    std::string text = csv_line(cells);
    for (const Results& results : all)
        for (const Result& row : results.rows) {
            if (!row.refused.empty()) continue;
            const Line line = line_of(results, row, date);
            cells.clear();
            for_columns(several, [&](const std::string&, auto cell) { cells.push_back(cell(line)); });
            text += csv_line(cells);
        }
    return text;
}

NamedCells named_cells(const Results& results, const Result& row, const std::string& date)
{
    const Line line = line_of(results, row, date);
    NamedCells cells;
    for_columns(row.gpus, [&](const std::string& name, auto cell) { cells.push_back({name, cell(line)}); });
    return cells;
}

}  // namespace harness
