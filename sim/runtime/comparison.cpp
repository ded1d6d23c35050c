// Both counts of each launch, side by side.
//
// In: the launches of a file of ncu, and those of the program, one by one. Out: the counts of each kernel and shape.
// The n-th launch of a kernel and shape in the program belongs to the n-th in the file. A launch is compared as soon as
// it ends, so the memory that this takes depends on the file and not on how many launches the program has. A launch
// without a counterpart is kept by its number.
//
// A kernel's name has many spellings, so names are compared in a common one. Where one side has no template arguments,
// or a lambda is one of them, the rest of the name decides. Where the file has no namespaces, the last part does.

#include "comparison.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "comparison_counts.h"
#include "comparison_text.h"
#include "kernel_names.h"
#include "kernels.h"
#include "options.h"

namespace sim {
namespace {

using harness::LaunchCounts;

// Launches of the file that have no counterpart yet, by spelling and shape.
struct OpenComparison {
    Comparison result;
    std::map<std::string, std::deque<size_t>> waiting;
    std::set<std::string> spellings;
};

OpenComparison*& comparing()
{
    static OpenComparison* comparison = nullptr;
    return comparison;
}

// The page `source` does not have the shape.
std::string key_of(NcuPage page, const std::string& spelling, dim3 grid, dim3 block)
{
    return page == NcuPage::source ? spelling : title_of(spelling, grid, block, 0);
}

bool has_lambda(const std::string& spelling) { return spelling.find("lambda") != std::string::npos; }

// The spelling of a kernel of the program, or the one that the file has for it.
std::string spelling_in_file(const std::string& kernel)
{
    const std::set<std::string>& known = comparing()->spellings;
    const std::string spelling = common_spelling(kernel), plain = without_template_arguments(spelling);
    if (known.count(spelling)) return spelling;
    for (const std::string& other : known) {
        if (other == plain.substr(plain.rfind(':') + 1)) return other;  // ncu --print-kernel-base function
        const bool undecided = spelling == plain || other == plain || (has_lambda(spelling) && has_lambda(other));
        if (undecided && without_template_arguments(other) == plain) return other;
    }
    return spelling;
}

// Adds a pair to those with the same counts.
void add_compared(Comparison& result, const std::string& title, const NcuLaunch& theirs, const LaunchCounts& ours,
                  dim3 block, uint64_t number)
{
    std::vector<ComparedCount> counts = compared_counts(theirs, ours, block);
    std::vector<ComparedLine> lines = compared_lines(theirs, ours);
    auto known = std::find_if(result.compared.begin(), result.compared.end(), [&](const ComparedLaunches& c) {
        return c.title == title && c.counts == counts && c.lines == lines;
    });
    if (known == result.compared.end())
        known = result.compared.insert(known, {title, std::move(counts), std::move(lines), {}, {}});
    known->launches.add(number);
    known->ids.add(theirs.id);
    ++result.launches;
}

}  // namespace

void open_comparison()
{
    const std::string& path = program_options().ncu;
    if (path.empty()) return;
    comparing() = new OpenComparison{{read_ncu_file(path), {}, 0, {}, {}}, {}, {}};  // used until the very end
    const std::vector<NcuLaunch>& launches = comparing()->result.file.launches;
    for (size_t i = 0; i < launches.size(); ++i) {
        const std::string spelling = common_spelling(launches[i].kernel);
        comparing()->spellings.insert(spelling);
        comparing()->waiting[key_of(launches[i].page, spelling, launches[i].grid, launches[i].block)].push_back(i);
    }
}

void compare_launch(const Launching& launching, const LaunchCounts& counts, uint64_t number)
{
    if (!comparing()) return;
    const Configuration& c = launching.configuration;
    Comparison& result = comparing()->result;
    const std::string name = name_of(launching), title = title_of(name, c.grid, c.block, c.shared_bytes);
    const std::string key = key_of(result.file.launches[0].page, spelling_in_file(name), c.grid, c.block);
    const auto waiting = comparing()->waiting.find(key);
    if (waiting == comparing()->waiting.end()) {
        result.ours[title].add(number);
        return;
    }
    add_compared(result, title, result.file.launches[waiting->second.front()], counts, c.block, number);
    waiting->second.pop_front();
    if (waiting->second.empty()) comparing()->waiting.erase(waiting);
}

std::string comparison_text()
{
    if (!comparing()) return "";
    Comparison result = comparing()->result;
    std::set<size_t> left;
    for (const auto& [key, launches] : comparing()->waiting) left.insert(launches.begin(), launches.end());
    for (const size_t i : left) {
        const NcuLaunch& l = result.file.launches[i];
        result.theirs[key_of(l.page, without_types(l.kernel), l.grid, l.block)].add(l.id);
    }
    return text_of(result);
}

}  // namespace sim
