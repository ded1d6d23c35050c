#include "results.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/commit.h"
#include "base/csv.h"
#include "base/error.h"
#include "model.h"

namespace harness {
namespace {

using Cells = std::vector<std::string>;

std::string number(uint64_t n) { return std::to_string(n); }
std::string fixed(double x, int digits) { return format("%.*f", digits, x); }
std::string ms_text(double ms) { return format("%.4f", ms); }
std::string gbs_text(double gbs) { return fixed(gbs, 1); }
std::string percent(double x) { return fixed(100 * x, 1); }

// Degree of coalescing: bytes asked for, of the bytes moved.
std::string coalesced_text(const LaunchCounts& c)
{
    return c.bytes_moved() ? percent(double(c.bytes_asked()) / c.bytes_moved()) : "-";
}

uint64_t elements(const Results& results) { return uint64_t(results.width) * results.height; }

double gbs_of(const Results& results, const Result& row, double ms)
{
    return bandwidth_gbs(elements(results) * bytes_of(results.type) * row.expected.traffic(), ms);
}

// The model's time for the counts of a row, which has some. A roofline is that of the DRAM: it says nothing of matrices
// that stay in the L2.
std::optional<Prediction> modelled(const Results& results, const Machine& machine, const Result& r)
{
    if (r.counts->bytes_asked() == 0 || r.gpus) return {};
    if (machine.roofline.stream_gbs > 0 && r.expected.passes > 1) return {};  // nor of what a second pass finds in a cache
    if (machine.roofline.stream_gbs > 0 && elements(results) * bytes_of(results.type) < machine.l2_bytes) return {};
    return predict(machine, *r.counts);
}

// The time that the roofline allows the counts of a row, over that of a copy of the same matrix: what they would cost in a matrix much
// larger than the L2.
std::optional<std::pair<double, const char*>> over_copy(const Results& results, const Machine& machine, const Result& r)
{
    const double bytes = double(r.expected.traffic()) * elements(results) * bytes_of(results.type);
    if (machine.roofline.stream_gbs == 0 || r.expected.passes > 1 || bytes == 0 || r.gpus) return {};
    const std::optional<Prediction> model = predict(machine, *r.counts);
    if (!model) return {};
    return std::pair(model->ms * 1e-3 / (bytes / (machine.roofline.stream_gbs * 1e9)), model->limit);
}

// Where the bytes of a timing came from.
const char* place_text(const Result& r, const Result::Timing& t)
{
    if (r.bus) return "bus";
    switch (t.plausibility) {
        case Plausibility::dram: return "DRAM";
        case Plausibility::cache_resident: return "cache-resident";
        case Plausibility::impossible: return "IMPOSSIBLE";
    }
    return "";
}

// Columns as wide as their widest cell: the first two flush left, the rest right.
std::string align(const std::vector<Cells>& lines)
{
    std::vector<size_t> width(lines.front().size());
    for (const Cells& line : lines)
        for (size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
    std::string text;
    for (const Cells& line : lines) {
        std::string out;
        for (size_t i = 0; i < line.size(); ++i)
            out += format(i < 2 ? "%-*s  " : "%*s  ", int(width[i]), line[i].c_str());
        out.erase(out.find_last_not_of(' ') + 1);
        text += out + "\n";
    }
    return text;
}

// Cells in the order of the heading in csv(). `spread`: with those of several GPUs.
std::string result_line(const Results& results, const Result& r, const std::string& date, bool spread)
{
    const DeviceInfo& device = results.device;
    Cells line{date, build_commit, device.backend, device.machine, device.driver, r.step, r.kernel, r.row,
               name_of(r.expected.what), name_of(results.type), number(bytes_of(results.type)), number(results.width),
               number(results.height), r.right ? "yes" : "no"};
    if (r.timing) {
        const Result::Timing& t = *r.timing;
        const bool moves = t.gbs > 0;
        for (const std::string& cell :
             {number(t.samples), number(t.passes_per_sample), number(t.buffers), number(t.working_set_bytes),
              number(device.l2_bytes), ms_text(t.ms.median), ms_text(t.ms.min), percent(t.ms.spread),
              moves ? gbs_text(t.gbs) : "", moves && !r.bus && results.copy_gbs > 0 ? percent(t.gbs / results.copy_gbs) : "",
              device.dram_peak_gbs > 0 ? gbs_text(device.dram_peak_gbs) : "",
              std::string(moves ? place_text(r, t) : "")})
            line.push_back(cell);
    } else {
        line.insert(line.end(), 12, "");
    }
    if (r.counts) {
        const LaunchCounts& c = *r.counts;
        for (bool store : {false, true})
            for (uint64_t n : {c.requests(false, store), c.units(false, store)}) line.push_back(number(n));
        line.push_back(number(c.bytes_moved()));
        line.push_back(coalesced_text(c));
        for (bool store : {false, true})
            for (uint64_t n : {c.requests(true, store), c.units(true, store)}) line.push_back(number(n));
        line.push_back(number(c.worst_conflict()));
        line.push_back(c.partitions ? fixed(c.busiest_read, 3) : "");
        line.push_back(c.partitions ? fixed(c.busiest_write, 3) : "");
        line.push_back(c.partitions ? c.map_assumed ? "assumed" : "published" : "");
        const std::optional<Prediction> model = modelled(results, machine_labelled(device.machine), r);
        if (model) {
            line.insert(line.end(), {number(c.model_bursts), number(c.model_scattered), fixed(c.model_waves, 3), ms_text(model->ms),
                                     gbs_text(gbs_of(results, r, model->ms)), model->limit});
        } else {
            line.insert(line.end(), 6, "");
        }
        line.push_back(number(c.accesses()));
    } else {
        line.insert(line.end(), 21, "");
    }
    line.push_back(r.block);
    if (r.one_launch) {
        const Result::Timing& t = *r.one_launch;
        line.insert(line.end(), {number(t.passes_per_sample), ms_text(t.ms.median), t.gbs > 0 ? gbs_text(t.gbs) : "",
                                 t.gbs > 0 ? place_text(r, t) : ""});
    } else {
        line.insert(line.end(), 4, "");
    }
    line.push_back(device.first_launch_ms > 0 ? fixed(device.first_launch_ms, 1) : "");
    line.push_back(r.counts ? number(r.counts->shared_bytes) : "");
    if (r.counts) {
        const Launched& l = r.counts->launched;
        line.insert(line.end(), {number(l.launches), number(l.blocks), number(l.warps), number(l.barriers)});
        const auto over = over_copy(results, machine_labelled(device.machine), r);
        line.push_back(over ? fixed(over->first, 3) : "");
        line.push_back(over ? over->second : "");
    } else {
        line.insert(line.end(), 6, "");
    }
    if (spread && r.gpus && r.counts)
        line.insert(line.end(), {number(r.gpus), number(r.counts->bytes_between_gpus()), number(r.counts->bytes_asked_between_gpus()), fixed(r.counts->busiest_receiver, 3)});
    else if (spread)
        line.insert(line.end(), 4, "");
    return csv_line(line);
}

}  // namespace

std::string table(const Results& results)
{
    std::vector<Cells> lines;
    const auto any = [&](auto has) { return std::any_of(results.rows.begin(), results.rows.end(), has); };
    const bool counted = any([](const Result& r) { return bool(r.counts); });
    const bool one_launch = any([](const Result& r) { return bool(r.one_launch); });
    if (!counted) {
        lines.push_back({"kernel", "produces", "result", "median ms", "min ms", "spread %", "GB/s",
                         "% of " + results.device.copy, "% of peak", "memory"});
        if (one_launch) lines[0].insert(lines[0].end(), {"one launch GB/s", "memory"});
    } else {
        lines.push_back({"kernel", "produces", "result", "loads", "cost", "stores", "cost", "coalesced %",
                         "tile loads", "cost", "tile stores", "cost", "busiest partition"});
    }
    for (const Result& r : results.rows) {
        Cells line{r.kernel + r.label, name_of(r.expected.what), !r.refused.empty() ? "refused" : r.right ? "verified" : "WRONG"};
        if (r.timing) {
            const Result::Timing& t = *r.timing;
            const bool moves = t.gbs > 0;
            for (const std::string& cell :
                 {ms_text(t.ms.median), ms_text(t.ms.min), percent(t.ms.spread), moves ? gbs_text(t.gbs) : "-",
                  moves && !r.bus && results.copy_gbs > 0 ? percent(t.gbs / results.copy_gbs) : "-",
                  !moves || r.bus ? "-" : results.device.dram_peak_gbs > 0 ? percent(t.gbs / results.device.dram_peak_gbs) : "unknown",
                  std::string(moves ? place_text(r, t) : "-")})
                line.push_back(cell);
            if (r.one_launch) line.insert(line.end(), {moves ? gbs_text(r.one_launch->gbs) : "-", moves ? place_text(r, *r.one_launch) : "-"});
        } else if (r.counts) {
            const LaunchCounts& c = *r.counts;
            for (bool shared : {false, true}) {
                for (bool store : {false, true}) {
                    const uint64_t requests = c.requests(shared, store);
                    line.push_back(number(requests));
                    line.push_back(requests ? fixed(double(c.units(shared, store)) / requests, 2) : "-");
                }
                if (!shared) line.push_back(coalesced_text(c));
            }
            line.push_back(c.partitions && c.bytes_moved() ? fixed(std::max(c.busiest_read, c.busiest_write), 2) + (c.map_assumed ? " assumed" : "") : "-");
        }
        lines.push_back(line);
    }
    return align(lines);
}

std::string sweep_table(const std::vector<Results>& sizes)
{
    std::vector<Cells> lines{{"GB/s", "produces"}};
    bool timed = false;
    for (const Results& size : sizes) {
        lines[0].push_back(size.width == size.height ? number(size.width) : format("%dx%d", size.width, size.height));
        for (size_t i = 0; i < size.rows.size(); ++i) {
            const Result& r = size.rows[i];
            if (lines.size() == i + 1) lines.push_back({r.kernel + r.label, name_of(r.expected.what)});
            lines[i + 1].push_back(r.timing && r.timing->gbs > 0 ? gbs_text(r.timing->gbs) : "-");
            timed = timed || r.timing;
        }
    }
    return timed ? align(lines) : "";
}

std::string model_table(const Results& results)
{
    const Machine& machine = machine_labelled(results.device.machine);
    const bool published_size = results.width == 2048 && results.height == 2048 && results.type == Type::f32;
    const bool compare = published_size && published_gbs(machine, "W1") > 0;
    std::vector<Cells> lines{{"kernel", "limited by", "model ms", "model GB/s"}};
    if (compare) lines[0].insert(lines[0].end(), {"published GB/s", "difference %"});
    for (const Result& r : results.rows) {
        if (!r.counts) continue;
        const std::optional<Prediction> model = modelled(results, machine, r);
        if (!model && r.counts->bytes_asked() > 0 && r.expected.passes == 1 && !r.gpus && machine.roofline.stream_gbs > 0)
            return format("The %s also has a model of times, for matrices larger than its L2: add --size 8192.\n", machine.label.c_str());
        if (!model) continue;
        const double gbs = gbs_of(results, r, model->ms);
        lines.push_back({r.kernel + r.label, model->limit, ms_text(model->ms), gbs_text(gbs)});
        const double published = published_gbs(machine, r.row);
        if (compare && published > 0) lines.back().insert(lines.back().end(), {gbs_text(published), format("%+.1f", 100 * (gbs / published - 1))});
    }
    if (lines.size() == 1) return "";
    return format("The model of the %s, not a measurement%s:\n\n", machine.label.c_str(),
                  machine.roofline.stream_gbs > 0 ? " (an estimate from the resource that the counts keep busiest)" : "") + align(lines);
}

std::string csv(const std::vector<Results>& all)
{
    std::string text = csv_line({"date_utc", "commit", "backend", "machine", "driver", "step", "kernel", "source_row",
        "produces", "type", "element_bytes", "width", "height", "verified", "samples", "passes_per_sample",
        "buffers", "working_set_bytes", "l2_bytes", "time_median_ms", "time_min_ms", "time_spread_percent",
        "bandwidth_gbs", "bandwidth_percent_of_memcpy", "dram_peak_gbs", "memory", "global_load_requests",
        "global_load_transactions", "global_store_requests", "global_store_transactions", "global_bytes_moved",
        "coalesced_percent", "shared_load_requests", "shared_load_wavefronts", "shared_store_requests",
        "shared_store_wavefronts", "worst_conflict", "busiest_partition_of_loads", "busiest_partition_of_stores",
        "partition_map", "model_bursts", "model_scattered_bursts", "model_barriers", "model_time_ms", "model_bandwidth_gbs",
        "model_limit", "accesses", "block", "one_launch_passes", "one_launch_time_median_ms", "one_launch_bandwidth_gbs",
        "one_launch_memory", "first_launch_ms", "shared_bytes_per_block", "launches", "blocks_launched", "warps_launched",
        "barriers_of_warps", "model_time_over_copy", "model_time_over_copy_limit"});
    bool spread = false;
    for (const Results& results : all)
        for (const Result& r : results.rows) spread = spread || r.gpus;
    if (spread) {
        text.back() = ',';
        text += csv_line({"gpus", "bytes_between_gpus", "bytes_asked_between_gpus", "busiest_receiver"});
    }
    const std::string date = utc_now();
    for (const Results& results : all)
        for (const Result& r : results.rows)
            if (r.refused.empty()) text += result_line(results, r, date, spread);
    return text;
}

std::string trace_heading() { return std::string("machine,kernel,type,width,height,block_x,block_y,") + trace_columns; }

std::string trace_begin(const Results& results, const Result& r)
{
    return trace_begin({results.device.machine, r.kernel, name_of(results.type), number(results.width), number(results.height)});
}

std::string trace_line(const std::string& begin, const TracedRequest& request) { return trace_line(begin, 2, request); }

uint64_t trace_bytes(const std::string& begin, uint64_t requests)
{
    constexpr uint64_t least = 45;  // of a request with offsets of one step, in the first megabyte
    return requests * (begin.size() + least);
}

}  // namespace harness
