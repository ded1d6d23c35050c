#include "tables.h"

#include <algorithm>

#include "base/error.h"
#include "figures.h"

namespace harness {
namespace {

using Cells = std::vector<std::string>;

void append(Cells& line, const Cells& more) { line.insert(line.end(), more.begin(), more.end()); }

Cells heading_of(const Results& results, bool counted, bool one_launch, bool several)
{
    if (counted)
        return {"kernel", "produces", "result", "loads", "cost", "stores", "cost", "coalesced %",
                "tile loads", "cost", "tile stores", "cost", "busiest partition"};
    if (several)
        return {"kernel", "produces", "result", "median ms", "min ms", "spread %", "GB/s", "GB/s out of each GPU",
                "% of copyToPeers"};
    Cells heading{"kernel", "produces", "result", "median ms", "min ms", "spread %", "GB/s",
                  "% of " + results.device.copy, "% of peak", "memory"};
    if (one_launch) append(heading, {"one launch GB/s", "memory"});
    return heading;
}

bool noisy(const Result::Timing& t) { return t.ms.spread > too_noisy; }

std::string spread_text(const Result::Timing& t) { return percent(t.ms.spread) + (noisy(t) ? "!" : ""); }

Cells times_of(const Results& results, const Result& r)
{
    const Result::Timing& t = *r.timing;
    const double peak = results.device.dram_peak_gbs;
    const bool moves = t.gbs > 0;
    if (r.gpus) {
        const double share = share_of_peer_copies(results, r);
        return {ms_text(t.ms.median), ms_text(t.ms.min), spread_text(t), moves ? gbs_text(t.gbs) : "-",
                gbs_text(gbs_out_of_each_gpu(results, r)), share > 0 ? percent(share) : "-"};
    }
    const bool on_device = moves && !r.bus;
    Cells cells{ms_text(t.ms.median), ms_text(t.ms.min), spread_text(t),
                moves ? gbs_text(t.gbs) : "-",
                on_device && results.copy_gbs > 0 ? percent(t.gbs / results.copy_gbs) : "-",
                !on_device ? "-" : peak > 0 ? percent(t.gbs / peak) : "unknown",
                moves ? came_from(r, t) : "-"};
    if (r.one_launch)
        append(cells, {moves ? gbs_text(r.one_launch->gbs) : "-", moves ? came_from(r, *r.one_launch) : "-"});
    return cells;
}

Cells counts_of(const LaunchCounts& c)
{
    Cells cells;
    for (Space memory : {global, shared}) {
        for (bool store : {false, true}) {
            const uint64_t requests = c.requests(memory, store);
            append(cells, {number(requests), requests ? fixed(double(c.units(memory, store)) / requests, 2) : "-"});
        }
        if (memory == global) cells.push_back(coalesced_text(c));
    }
    const double busiest = std::max(c.busiest(false), c.busiest(true));
    cells.push_back(busiest > 0 ? fixed(busiest, 2) + (c.map_assumed ? "*" : "") : "-");
    return cells;
}

std::string noise_note()
{
    return format("\n! Too noisy to compare: the middle 80 %% of the samples lie more than %.0f %% of the median "
                  "apart. Run again on an idle machine.\n", 100 * too_noisy);
}

}  // namespace

std::string aligned(const TableLines& lines)
{
    std::vector<size_t> width(lines.front().size());
    for (const auto& line : lines)
        for (size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
    std::string text;
    for (const auto& line : lines) {
        std::string out;
        for (size_t i = 0; i < line.size(); ++i)
            out += format(i < 2 ? "%-*s  " : "%*s  ", int(width[i]), line[i].c_str());
        out.erase(out.find_last_not_of(' ') + 1);
        text += out + "\n";
    }
    return text;
}

std::string table(const Results& results)
{
    const auto any = [&](auto has) { return std::any_of(results.rows.begin(), results.rows.end(), has); };
    const bool counted = any([](const Result& r) { return bool(r.counts); });
    const bool one_launch = any([](const Result& r) { return bool(r.one_launch); });
    const bool several = any([](const Result& r) { return r.gpus > 0; });
    TableLines lines{heading_of(results, counted, one_launch, several)};
    for (const Result& r : results.rows) {
        lines.push_back({r.kernel + r.label, name_of(r.expected.what),
                         !r.refused.empty() ? "refused"
                         : r.right          ? "verified"
                                            : "WRONG"});
        if (r.timing) append(lines.back(), times_of(results, r));
        else if (r.counts) append(lines.back(), counts_of(*r.counts));
    }
    return aligned(lines) + (any([](const Result& r) { return r.timing && noisy(*r.timing); }) ? noise_note() : "");
}

std::string between_table(const Results& results)
{
    TableLines lines{{"between GPUs", "link of the model", "peer stores", "peer loads", "messages", "MB cross",
                      "asked %", "busiest receiver", "model ms"}};
    for (const Result& r : results.rows) {
        if (!r.gpus || !r.counts) continue;
        const BetweenGpus& b = r.counts->between;
        const double messages = double(b.message_bytes), bytes = double(r.counts->bytes_between_gpus()) + messages;
        const double asked = double(r.counts->bytes_asked_between_gpus()) + messages;
        lines.push_back({r.kernel + r.label, results.link->name, number(b.stores), number(b.loads), number(b.messages),
                         fixed(bytes / 1e6, 3), bytes > 0 ? percent(asked / bytes) : "-",
                         b.busiest_receiver > 0 ? fixed(b.busiest_receiver, 2) : "-",
                         ms_text(crossing_ms(b, *results.link))});
    }
    return lines.size() > 1 ? aligned(lines) : "";
}

std::string sweep_table(const std::vector<Results>& sizes)
{
    TableLines lines{{"GB/s", "produces"}};
    bool timed = false, noise = false;
    for (const Results& size : sizes) {
        lines[0].push_back(size.width == size.height ? number(size.width) : format("%dx%d", size.width, size.height));
        for (size_t i = 0; i < size.rows.size(); ++i) {
            const Result& r = size.rows[i];
            if (lines.size() == i + 1) lines.push_back({r.kernel + r.label, name_of(r.expected.what)});
            const bool moves = r.timing && r.timing->gbs > 0;
            lines[i + 1].push_back(moves ? gbs_text(r.timing->gbs) + (noisy(*r.timing) ? "!" : "") : "-");
            timed = timed || r.timing;
            noise = noise || (moves && noisy(*r.timing));
        }
    }
    return timed ? aligned(lines) + (noise ? noise_note() : "") : "";
}

}  // namespace harness
