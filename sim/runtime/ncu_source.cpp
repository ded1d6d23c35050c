// Reads the page `source`.
//
// In: what --print-source cuda,sass prints, a section for each launch and file of the source. A section is the name of
// the file, the name of the kernel, a heading, and rows: a line of the source, then the instructions that were made of
// it. Out: the launches, with the counts of each
// instruction and the lines it belongs to. An instruction of an inlined function stands under the line of the function
// and under that of the call. Some stand twice under one line. Addresses tell instructions apart.
//
// The kind of an access comes from the instruction's name, because the column "Access Operation" is blank for
// reductions. ncu does not double quotes within a line of the source, so rows are not split as CSV: a cell ends at
// `","`, and cells too many belong to the line of the source.

#include "ncu_source.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "../../common/base/error.h"

namespace sim {
namespace {

using harness::format;

using Cells = std::vector<std::string>;

// Instructions of some names, by what they do. Their counts are in three columns.
struct Opcode {
    const char *name, *memory, *access;
};
constexpr Opcode opcodes[] = {{"LDG", "global", "load"},     {"STG", "global", "store"},   {"ATOM", "global", "atomic"},
                              {"ATOMG", "global", "atomic"}, {"RED", "global", "atomic"},  {"REDG", "global", "atomic"},
                              {"LDS", "shared", "load"},     {"LDSM", "shared", "load"},   {"STS", "shared", "store"},
                              {"ATOMS", "shared", "atomic"}, {"LDL", "local", "load"},     {"STL", "local", "store"},
                              {"LDGSTS", "global", "load"},  {"LDGSTS", "shared", "store"}};
// A column has another name where ncu was given the metric and not the section.
struct Column {
    const char *name, *metric;
};
constexpr Column executed = {"Instructions Executed", "inst_executed"};
constexpr Column active = {"Predicated-On Thread Instructions Executed", "thread_inst_executed_true"};
constexpr Column sectors = {"L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global"};
constexpr Column wavefronts = {"L1 Wavefronts Shared", "memory_l1_wavefronts_shared"};
constexpr Column addresses = {"Address", "Address"};

Cells cells_of(std::string_view line)
{
    Cells cells;
    if (line.size() < 2 || line.front() != '"') return cells;
    line.remove_prefix(1);
    for (;;) {
        const size_t end = line.find("\",\"");
        if (end == line.npos) break;
        cells.emplace_back(line.substr(0, end));
        line.remove_prefix(end + 3);
    }
    if (!line.empty() && line.back() == ',') line.remove_suffix(1);
    if (line.empty() || line.back() != '"') return {};
    cells.emplace_back(line.substr(0, line.size() - 1));
    return cells;
}

class SourcePage {
public:
    explicit SourcePage(std::function<void(size_t, const std::string&)> refuse) : refuse_(std::move(refuse)) {}
    void read(std::string_view line, size_t number);
    std::vector<NcuLaunch> launches;

private:
    void begin_launch(const std::string& kernel);
    void begin_section(const std::string& kernel);
    void begin_table();
    void read_row();
    void read_instruction();
    void add_counts(NcuInstruction& instruction);
    size_t column(const Column& wanted) const;
    uint64_t count(const Column& wanted) const;

    const std::function<void(size_t, const std::string&)> refuse_;
    size_t number_ = 0;
    Cells heading_, row_;
    std::string path_;  // of the section
    std::set<std::string> paths_;  // of the launch, so far
    std::map<std::string, size_t> known_;  // instructions of the launch, by address
    int line_ = 0;  // of the source
};

// Its number; that of the columns if there is none.
size_t SourcePage::column(const Column& wanted) const
{
    const auto found = std::find_if(heading_.begin(), heading_.end(), [&](const std::string& name) {
        return name == wanted.name || name == wanted.metric;
    });
    return size_t(found - heading_.begin());
}

uint64_t SourcePage::count(const Column& wanted) const
{
    const size_t i = column(wanted);
    if (i >= row_.size() || row_[i].empty() || row_[i] == "-" || row_[i] == "n/a") return 0;
    const MaybeCount value = whole_count(row_[i]);
    if (!value) refuse_(number_, std::string(wanted.name) + " is '" + row_[i] + "'; expected a whole number");
    return *value;
}

void SourcePage::begin_launch(const std::string& kernel)
{
    if (kernel.size() > most_kernel_name) refuse_(number_, format("a kernel's name of %zu bytes", kernel.size()));
    NcuLaunch launch;
    launch.id = launches.size() + 1;
    launch.kernel = kernel;
    launch.page = NcuPage::source;
    launches.push_back(std::move(launch));
    paths_.clear();
    known_.clear();
}

// Another kernel, or a file that the launch has had: another launch.
void SourcePage::begin_section(const std::string& kernel)
{
    if (launches.empty() || launches.back().kernel != kernel || paths_.count(path_)) begin_launch(kernel);
    paths_.insert(path_);
}

void SourcePage::begin_table()
{
    heading_ = row_;
    line_ = 0;
    if (row_[0] == "Address")
        refuse_(number_,
                "no lines of the source; compile with nvcc -lineinfo, profile with --import-source yes, and "
                "print with --page source --print-source cuda,sass");
    for (const Column& needed : {addresses, executed})  // the instruction's name stands behind its address
        if (launches.empty() || column(needed) + 1 >= heading_.size())
            refuse_(number_, format("no column '%s'; print with --page source --print-source cuda,sass, of a profile "
                                    "with --section SourceCounters",
                                    needed.name));
}

void SourcePage::add_counts(NcuInstruction& instruction)
{
    std::string name = row_[column(addresses) + 1];
    name.erase(0, name.find_first_not_of(' '));
    if (name[0] == '@') name.erase(0, std::min(name.find(' '), name.size()));  // a predicate
    name.erase(0, name.find_first_not_of(' '));
    const std::string opcode = name.substr(0, name.find_first_of(". "));
    for (const Opcode& known : opcodes) {
        if (opcode != known.name) continue;
        const std::string what = std::string(known.memory) + " " + known.access + " ";
        const bool shared = known.memory == std::string("shared");
        // An instruction that no thread executes makes no request.
        const bool none = column(active) < heading_.size() && count(active) == 0;
        if (!shared) instruction.counts[what + "requests"] += none ? 0 : count(executed);
        if (known.memory == std::string("global")) instruction.counts[what + "sectors"] += count(sectors);
        if (shared) instruction.counts[what + "wavefronts"] += count(wavefronts);
    }
}

void SourcePage::read_instruction()
{
    const std::string& address = row_[column(addresses)];
    if (address == "...") return;  // instructions of other lines
    NcuLaunch& launch = launches.back();
    const auto [known, fresh] = known_.try_emplace(address, launch.instructions.size());
    if (fresh) {
        launch.instructions.emplace_back();
        add_counts(launch.instructions.back());
    }
    if (line_ == 0) return;
    std::vector<SourceLine>& lines = launch.instructions[known->second].lines;
    const SourceLine line{path_, line_};
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

void SourcePage::read_row()
{
    if (row_.size() < heading_.size() || heading_.empty())
        refuse_(number_,
                format("%zu cells, where the heading has %zu; is the file whole?", row_.size(), heading_.size()));
    // Cells of the line of the source that has `","` in it.
    const size_t more = row_.size() - heading_.size();
    row_.erase(row_.begin() + 1, row_.begin() + 1 + std::ptrdiff_t(more));
    if (heading_[0] == "Line No" && !row_[0].empty()) {
        const MaybeCount line = whole_count(row_[0]);
        if (!line || *line > 100000000) refuse_(number_, "Line No is '" + row_[0] + "'; expected a number");
        line_ = int(*line);
        return;
    }
    read_instruction();
}

void SourcePage::read(std::string_view line, size_t number)
{
    number_ = number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.substr(0, 2) == "==") return;
    row_ = cells_of(line);
    if (row_.empty()) refuse_(number, "no row of a table; is the file whole?");
    if (row_[0] == "File Path" || row_[0] == "File Name") path_ = row_.back();
    else if (row_[0] == "Function Name") begin_section(row_.back());
    else if (row_[0] == "Kernel Name") return;  // a page without lines, which its heading tells
    else if (row_[0] == "Line No" || row_[0] == "Address") begin_table();
    else read_row();
}

}  // namespace

bool begins_source_page(std::string_view line)
{
    for (const std::string_view begin : {"\"File Path\",", "\"File Name\",", "\"Kernel Name\","})
        if (line.substr(0, begin.size()) == begin) return true;
    return false;
}

std::vector<NcuLaunch> read_source_page(std::string_view text, size_t number,
                                        const std::function<void(size_t, const std::string&)>& refuse)
{
    SourcePage page(refuse);
    for (size_t at = 0; at < text.size(); ++number) {
        const size_t end = std::min(text.find('\n', at), text.size());
        page.read(text.substr(at, end - at), number);
        at = end + 1;
    }
    return std::move(page.launches);
}

}  // namespace sim
