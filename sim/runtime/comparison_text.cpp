// A table for each kernel and shape whose counts are compared, then the differences line by line, what only one side
// has, what is known to make such differences, and what to type where the file lacks a count.
//
// A count that is 0 on both sides has no line. Causes are rules: a count, and which side is the larger. They are hints
// and no proofs, since counts are all that the file has.

#include "comparison_text.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "../../common/base/error.h"
#include "../../common/base/machine.h"
#include "ncu_metrics.h"
#include "options.h"

namespace sim {
namespace {

using harness::format;
using harness::printable;

enum class OnTheCard { fewer, more };
struct Cause {
    const char* count;
    OnTheCard is;
    const char* text;
};
constexpr Cause causes[] = {
    {"global load requests", OnTheCard::fewer,
     "nvcc joins loads of members of a structure and of both arms of a branch, and keeps values in registers"},
    {"global load requests", OnTheCard::more,
     "nvcc loads again after a store that may have changed the value, unrolls loops, or copies a load into branches"},
    {"global load sectors", OnTheCard::more,
     "an asynchronous copy of 16 bytes a lane reads sectors in pairs, where its stores have conflicts"},
    {"global store requests", OnTheCard::fewer,
     "nvcc joins stores to members of a structure and in both arms of a branch, and drops those that are overwritten"},
    {"global store requests", OnTheCard::more,
     "nvcc unrolls a loop; lanes that leave it in different turns make a request each"},
    {"global atomic requests", OnTheCard::fewer,
     "nvcc makes one operation of two that are equal, in both arms of a branch"},
    {"global atomic sectors", OnTheCard::fewer,
     "nvcc adds up what a warp adds to one address, and one lane makes the operation"},
    {"global atomic sectors", OnTheCard::more,
     "some operations whose result is used take one sector more than their lanes have; the rule is not known"},
    {"shared load wavefronts", OnTheCard::fewer,
     "nvcc joins loads of neighbouring elements, and keeps values in registers"},
    {"shared load wavefronts", OnTheCard::more,
     "an atomic operation that shared memory does not have, such as on a float, is a loop that loads"},
    {"shared store wavefronts", OnTheCard::fewer,
     "nvcc joins stores to neighbouring elements, and drops those that no other thread loads"},
    {"shared store wavefronts", OnTheCard::more,
     "an asynchronous copy stores what it brings as it arrives, line by line"},
    {"shared atomic wavefronts", OnTheCard::fewer,
     "nvcc adds up what a warp adds to one address; an operation that shared memory does not have is a loop"},
    {"shared atomic wavefronts", OnTheCard::more, "a compare-and-swap takes twice the wavefronts of another operation"},
};

std::string number_text(const MaybeCount& n) { return n ? std::to_string(*n) : "-"; }

// +12 (+3.1 %), of the simulator from ncu.
std::string difference_text(uint64_t theirs, uint64_t ours)
{
    if (theirs == ours) return "0";
    const double difference = double(ours) - double(theirs);
    const std::string share = theirs ? format(" (%+.3g %%)", 100 * difference / double(theirs)) : "";
    return format("%+.0f", difference) + share;
}

std::string row_text(const std::string& name, const std::string& theirs, const std::string& ours,
                     const std::string& difference)
{
    return format("  %-30s%16s%16s%20s\n", name.c_str(), theirs.c_str(), ours.c_str(), difference.c_str());
}

// ncu numbers the launches from 0. The page `source` leaves out the numbers, and gets others, from 1.
std::string id_text(const Numbers& ids, NcuPage page)
{
    return page == NcuPage::source ? ids.text("launch", "launches") : ids.text("ID", "IDs");
}

std::string table_text(const ComparedLaunches& c, NcuPage page)
{
    const std::string title =
        c.title + ", " + c.launches.text("launch", "launches") + "; in the file, " + id_text(c.ids, page);
    std::string text = "\n" + printable(title) + "\n" + row_text("", "Nsight Compute", "simulator", "difference");
    for (size_t i = 0; i < c.counts.size(); ++i) {
        const ComparedCount& both = c.counts[i];
        if (!both.theirs || (*both.theirs == 0 && both.ours.value_or(0) == 0)) continue;
        text += row_text(ncu_counts()[i].name, number_text(both.theirs), number_text(both.ours),
                         both.ours ? difference_text(*both.theirs, *both.ours) : "-");
    }
    std::string before;
    for (const ComparedLine& l : c.lines) {
        const std::string where = l.file + ":" + std::to_string(l.line);
        if (where != before) text += "  at " + printable(where) + "\n";
        before = where;
        text += row_text("  " + ncu_counts()[l.count].name, std::to_string(l.theirs), number_text(l.ours),
                         l.ours ? difference_text(l.theirs, *l.ours) : "-");
    }
    return text;
}

std::string alone_text(const std::map<std::string, Numbers>& launches, const char* who, NcuPage page)
{
    std::string text;
    for (const auto& [title, numbers] : launches)
        text += "  " + printable(title) + ": " + id_text(numbers, page) + "\n";
    return text.empty() ? "" : format("\nLaunches that only %s has:\n", who) + text;
}

// True if any pair of launches has it.
template <typename Condition>
bool any_count(const Comparison& comparison, const std::string& name, Condition condition)
{
    for (size_t i = 0; i < ncu_counts().size(); ++i)
        if (ncu_counts()[i].name == name)
            for (const ComparedLaunches& c : comparison.compared)
                if (condition(c.counts[i])) return true;
    return false;
}

std::string causes_text(const Comparison& comparison)
{
    std::string text;
    const auto cause = [&](const std::string& what, const char* why) { text += "  " + what + ": " + why + ".\n"; };
    for (const Cause& known : causes) {
        const bool fewer = known.is == OnTheCard::fewer;
        const bool found = any_count(comparison, known.count, [&](const ComparedCount& both) {
            return both.differs() && (*both.theirs < *both.ours) == fewer;
        });
        if (found) cause(format("%s %s on the card", fewer ? "fewer" : "more", known.count), known.text);
    }
    for (const NcuCount& count : ncu_counts()) {
        const bool conflicts = count.name.find("conflicts") != std::string::npos;
        if (any_count(comparison, count.name,
                      [&](const ComparedCount& both) { return both.differs() && (conflicts || both.way > 0); }))
            cause(count.name, "the metrics l1tex__data_ count arbitration, too");
        if (count.name.compare(0, 6, "local ") == 0 &&
            any_count(comparison, count.name, [](const ComparedCount& both) { return both.theirs.value_or(0) > 0; }))
            cause(count.name,
                  "nvcc keeps arrays, and values for which there is no register, in local memory");
    }
    bool moved = false, in_headers = false;
    for (const ComparedLaunches& c : comparison.compared)
        for (const ComparedLine& l : c.lines) {
            moved |= l.ours && l.theirs != *l.ours && !c.counts[l.count].differs();
            in_headers |= l.theirs && std::none_of(c.lines.begin(), c.lines.end(), [&](const ComparedLine& other) {
                              return other.file == l.file && other.ours.value_or(0);
                          });
        }
    if (moved) cause("a line, and not the sum", "nvcc moves an access to where another line begins");
    if (in_headers) cause("a line of a header", "the simulator counts its accesses at the line of the call");
    if (text.empty()) return "";
    return "\nKnown causes of such differences (sim/README.md has more):\n" + text;
}

std::string capability_text(const NcuFile& file)
{
    const int theirs = file.launches[0].capability;
    const harness::Machine& ours = machine();
    if (theirs == 0 || theirs == 10 * ours.major + ours.minor) return "";
    std::string names;
    for (const harness::Machine& m : harness::machines())
        if (theirs == 10 * m.major + m.minor) names += (names.empty() ? "" : " or ") + m.name;
    return format("The file is from a card of compute capability %d.%d, and the simulator counts for %s (%d.%d). %s\n",
                  theirs / 10, theirs % 10, ours.label.c_str(), ours.major, ours.minor,
                  names.empty() ? "It has no machine like the card."
                                : ("For a card like that, use --machine " + names + ".").c_str());
}

// The command that counts all of it.
std::string command_text(int capability)
{
    std::string metrics;
    for (const NcuCount& count : ncu_counts())
        for (const NcuMetric& metric : count.ways[0])
            if (capability == 0 || metric.since <= capability) metrics += (metrics.empty() ? "" : ",") + metric.name;
    return "ncu --csv --page raw --print-units base --log-file counts.csv --metrics " + metrics + " ./" +
           program_invocation_short_name;
}

// The command to type for the counts that the file lacks.
std::string lacking_text(const Comparison& comparison)
{
    const NcuFile& file = comparison.file;
    if (file.launches[0].page == NcuPage::source) return "";
    std::string names;
    for (const NcuCount& count : ncu_counts()) {
        const std::string& metric = count.ways[0][0].name;
        const bool of_accesses = metric.find("pipe_lsu") != metric.npos && metric.find("conflicts") == metric.npos;
        if (of_accesses && any_count(comparison, count.name, [](const ComparedCount& both) {
                return !both.theirs && both.ours.value_or(0) > 0;
            }))
            names += (names.empty() ? "" : ", ") + count.name;
    }
    if (names.empty()) return "";
    return "\nThe file does not have " + names + ". To count all, type\n  " +
           command_text(file.launches[0].capability) + "\n";
}

// How much was compared.
std::string sum_text(const Comparison& comparison)
{
    uint64_t counts = 0, different = 0;
    for (const ComparedLaunches& c : comparison.compared)
        for (const ComparedCount& both : c.counts) {
            counts += both.theirs && both.ours && (*both.theirs || *both.ours);
            different += both.differs();
        }
    return format("\nncu: %llu launch%s compared, %llu of %llu counts differ\n",
                  (unsigned long long)comparison.launches, comparison.launches == 1 ? "" : "es",
                  (unsigned long long)different, (unsigned long long)counts);
}

}  // namespace

void Numbers::add(uint64_t n)
{
    if (!ranges_.empty() && ranges_.back().second + 1 == n) ranges_.back().second = n;
    else ranges_.push_back({n, n});
}

std::string Numbers::text(const char* one, const char* several) const
{
    constexpr size_t most = 8;
    const bool single = ranges_.size() == 1 && ranges_[0].first == ranges_[0].second;
    std::string text = single ? one : several;
    for (size_t i = 0; i < std::min(ranges_.size(), most); ++i) {
        text += (i ? ", " : " ") + std::to_string(ranges_[i].first);
        if (ranges_[i].second > ranges_[i].first) text += " to " + std::to_string(ranges_[i].second);
    }
    return ranges_.size() > most ? text + " and others" : text;
}

std::string text_of(const Comparison& comparison)
{
    const NcuPage page = comparison.file.launches[0].page;
    std::string text = "\nNsight Compute (" + printable(comparison.file.path) +
                       ") and the simulator, for each launch\n" + capability_text(comparison.file);
    for (const ComparedLaunches& c : comparison.compared) text += table_text(c, page);
    text += alone_text(comparison.ours, "the simulator", NcuPage::source);
    text += alone_text(comparison.theirs, "the file", page);
    return text + causes_text(comparison) + lacking_text(comparison) + sum_text(comparison);
}

}  // namespace sim
