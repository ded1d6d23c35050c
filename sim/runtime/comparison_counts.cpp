// Counts of ncu and of the simulator for one launch: of the whole launch, and line by line.
//
// In: a launch of the file, and the simulator's counts by lines. Out: pairs. An instruction of an inlined function
// stands under several lines, and the simulator counts it at one. Instructions with one line are therefore added first.
// Each of the others then goes to that of its lines where the simulator's count exceeds the sum so far by the most.

#include "comparison_counts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "../../common/base/explain.h"
#include "ncu_metrics.h"

namespace sim {
namespace {

using harness::AccessSite;
using harness::LaunchCounts;

using FileLine = std::pair<std::string, int>;
using LineCounts = std::pair<uint64_t, uint64_t>;  // of ncu, of the simulator

MaybeCount sum_of_metrics(const NcuLaunch& launch, const std::vector<NcuMetric>& way)
{
    uint64_t sum = 0;
    for (const NcuMetric& metric : way) {
        const auto value = launch.values.find(metric.name);
        if (value != launch.values.end()) sum += value->second;
        else if (launch.capability == 0 || metric.since <= launch.capability) return {};
    }
    return sum;
}

// The page has all instructions of a kernel. It has no conflicts, threads and registers.
bool on_source_page(const std::string& name)
{
    const std::string what = name.substr(name.rfind(' ') + 1);
    return what == "requests" || what == "sectors" || what == "wavefronts";
}

// Sets what ncu counted, and how.
void set_theirs(ComparedCount& both, const NcuLaunch& launch, const NcuCount& count)
{
    if (launch.page == NcuPage::source) {
        if (!on_source_page(count.name)) return;
        both.theirs = 0;
        for (const NcuInstruction& instruction : launch.instructions) {
            const auto value = instruction.counts.find(count.name);
            if (value != instruction.counts.end()) *both.theirs += value->second;
        }
        return;
    }
    for (both.way = 0; both.way < count.ways.size(); ++both.way)
        if ((both.theirs = sum_of_metrics(launch, count.ways[both.way]))) return;
}

// The part of a count that one access has; none where the simulator does not count that.
MaybeCount part_of(const std::string& name, const AccessSite& site)
{
    const size_t first = name.find(' '), second = name.find(' ', first + 1);
    const std::string memory = name.substr(0, first), what = name.substr(second + 1);
    const std::string access = name.substr(first + 1, second - first - 1);
    if (memory != (site.in(harness::global) ? "global" : memory_name(site)) || access != access_name(site)) return 0;
    if (what == "requests") return site.requests;
    if (what == "conflicts") return site.units - site.ideal;
    if (what == site.unit) return site.units;
    return {};  // an older card moves memory in other units than sectors
}

MaybeCount our_count(const std::string& name, const LaunchCounts& counts, dim3 block)
{
    if (name == "threads") return counts.launched.blocks * block.x * block.y * block.z;
    if (name == "warps") return counts.launched.warps;
    if (name.compare(0, 7, "global ") && name.compare(0, 7, "shared ")) return {};
    uint64_t sum = 0;
    for (const AccessSite& site : counts.sites) {
        const MaybeCount part = part_of(name, site);
        if (!part) return {};
        sum += *part;
    }
    return sum;
}

FileLine file_line(const std::string& path, int line) { return {path.substr(path.rfind('/') + 1), line}; }

// Adds a count of an instruction to one of its lines.
void add_to_a_line(std::map<FileLine, LineCounts>& lines, const NcuInstruction& instruction, uint64_t value)
{
    LineCounts* best = nullptr;
    int64_t most = 0;
    for (const SourceLine& line : instruction.lines) {
        LineCounts& both = lines[file_line(line.path, line.line)];
        const int64_t more = int64_t(both.second) - int64_t(both.first);
        if (!best || more > most) best = &both, most = more;
    }
    best->first += value;
}

// One count by lines. `counted`: the simulator has it, too.
std::map<FileLine, LineCounts> lines_of(const std::string& name, const NcuLaunch& theirs, const LaunchCounts& ours,
                                        bool counted)
{
    std::map<FileLine, LineCounts> lines;
    if (!on_source_page(name)) return lines;
    const auto counts = [&](const NcuInstruction& instruction) { return instruction.counts.count(name) > 0; };
    for (const AccessSite& site : ours.sites)
        if (counted && !site.file.empty())
            lines[file_line(site.file, site.line)].second += part_of(name, site).value_or(0);
    for (const bool several : {false, true})
        for (const NcuInstruction& instruction : theirs.instructions)
            if (counts(instruction) && (instruction.lines.size() > 1) == several)
                add_to_a_line(lines, instruction, instruction.counts.at(name));
    return lines;
}

}  // namespace

std::vector<ComparedCount> compared_counts(const NcuLaunch& theirs, const LaunchCounts& ours, dim3 block)
{
    std::vector<ComparedCount> all;
    for (const NcuCount& count : ncu_counts()) {
        ComparedCount both;
        both.ours = our_count(count.name, ours, block);
        set_theirs(both, theirs, count);
        all.push_back(both);
    }
    return all;
}

std::vector<ComparedLine> compared_lines(const NcuLaunch& theirs, const LaunchCounts& ours)
{
    std::vector<ComparedLine> all;
    if (theirs.page != NcuPage::source) return all;
    for (size_t i = 0; i < ncu_counts().size(); ++i) {
        const std::string& name = ncu_counts()[i].name;
        const bool counted = our_count(name, ours, {}).has_value();
        for (const auto& [line, both] : lines_of(name, theirs, ours, counted)) {
            if (both.first || both.second)
                all.push_back(
                    {line.first, line.second, i, both.first, counted ? MaybeCount(both.second) : MaybeCount()});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const ComparedLine& a, const ComparedLine& b) {
        return std::pair(a.file, a.line) < std::pair(b.file, b.line);
    });
    return all;
}

}  // namespace sim
