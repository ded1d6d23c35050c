// Reads the tables that ncu prints with --csv.
//
// In: a file that may begin with lines of the profiled program and of ncu (==PROF==). Out: the launches with their
// counts. Two kinds of tables have them. The long one has a row for each launch and metric, in the columns "Metric
// Name" and "Metric Value" (the page `details`, and --metrics). The wide one has a row for each launch and a column for
// each metric, and its first row has the units (--page raw). ncu_source.cpp reads the page `source`. Metrics that
// ncu_metrics.csv does not name are skipped, whatever their values are. Of the others, n/a is no value, and anything
// else that is not a whole number is refused.

#include "ncu.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "../../common/base/csv.h"
#include "../../common/base/error.h"
#include "ncu_metrics.h"
#include "ncu_source.h"

namespace sim {
namespace {

using harness::format;

constexpr size_t most_ncu_bytes = size_t(1) << 30;

using Row = std::vector<std::string>;

class NcuReader {
public:
    explicit NcuReader(const std::string& path) : path_(path) {}
    NcuFile read();

private:
    [[noreturn]] void refuse(const std::string& what) const;
    [[noreturn]] void refuse_line(const std::string& what) const;
    std::string text() const;
    void find_table(std::string_view text);
    bool next_row();
    size_t column(const char* name) const;
    const std::string& cell(const char* name) const;
    dim3 shape(const char* name) const;
    int capability() const;
    NcuLaunch& launch();
    void add(NcuLaunch& launch, const std::string& metric, const std::string& unit, const std::string& value) const;
    void read_long();
    void read_wide();

    const std::string path_;
    std::unique_ptr<harness::CsvReader> table_;
    Row heading_, row_;
    size_t cells_needed_ = 0;  // of a row
    NcuFile file_;
    std::map<std::pair<std::string, uint64_t>, size_t> known_;  // launches by process and number
};

void NcuReader::refuse(const std::string& what) const
{
    throw harness::Error{harness::status_bad_input, "--ncu " + path_ + ": " + what};
}

void NcuReader::refuse_line(const std::string& what) const { refuse(format("line %zu: ", table_->line()) + what); }

std::string NcuReader::text() const
{
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path_.c_str(), "rb"), std::fclose);
    if (!file) refuse(std::strerror(errno));
    std::string text;
    char buffer[1 << 16];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
        text.append(buffer, n);
        if (text.size() > most_ncu_bytes) refuse("longer than 1 GB; expected what ncu --csv prints");
    }
    if (std::ferror(file.get())) refuse(std::strerror(errno));
    return text;
}

// Skips the lines before the heading of the table. Reads the page source, which is no such table.
void NcuReader::find_table(std::string_view text)
{
    std::string error;
    size_t number = 1;
    for (size_t at = 0; at < text.size(); ++number) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (begins_source_page(line)) {
            file_.launches = read_source_page(text.substr(at), number, [this](size_t wrong, const std::string& what) {
                refuse(format("line %zu: ", wrong) + what);
            });
            return;
        }
        // A program whose output ends without a line break stands before the heading.
        const size_t begin = line.find("\"ID\",");
        if (begin != line.npos || line.substr(0, 3) == "ID,") {
            table_ = std::make_unique<harness::CsvReader>(text.substr(at + (begin == line.npos ? 0 : begin)), number);
            table_->next(heading_);
            if (column("Kernel Name") < heading_.size()) return;
        }
        if (error.empty() && line.substr(0, 9) == "==ERROR==") error = line.substr(0, line.find('\r'));
        at = end + 1;
    }
    if (!error.empty()) refuse("Nsight Compute failed: " + error);
    refuse("no table of Nsight Compute; expected what ncu --csv prints");
}

bool NcuReader::next_row()
{
    while (table_->next(row_)) {
        if (row_ == heading_ || row_[0].compare(0, 2, "==") == 0) continue;
        if (table_->open()) refuse_line("a quote is not closed; is the file whole?");
        if (row_.size() < cells_needed_ || row_.size() > heading_.size())
            refuse_line(
                format("%zu cells, where the heading has %zu; is the file whole?", row_.size(), heading_.size()));
        return true;
    }
    return false;
}

// Its number; that of the columns if there is none.
size_t NcuReader::column(const char* name) const
{
    return size_t(std::find(heading_.begin(), heading_.end(), name) - heading_.begin());
}

const std::string& NcuReader::cell(const char* name) const
{
    const size_t i = column(name);
    if (i >= heading_.size()) refuse(format("no column '%s'; expected what ncu --csv prints", name));
    return row_[i];
}

// (32, 8, 1)
dim3 NcuReader::shape(const char* name) const
{
    dim3 d;
    int end = 0;
    const std::string& text = cell(name);
    if (std::sscanf(text.c_str(), "(%u, %u, %u)%n", &d.x, &d.y, &d.z, &end) != 3 || size_t(end) != text.size())
        refuse_line(format("%s is '%s'; expected three numbers, as in (32, 8, 1)", name, text.c_str()));
    return d;
}

// 90 of 9.0
int NcuReader::capability() const
{
    int major = 0, minor = 0;
    if (column("CC") < heading_.size()) std::sscanf(cell("CC").c_str(), "%3d.%1d", &major, &minor);
    return 10 * major + minor;
}

// The launch of this row.
NcuLaunch& NcuReader::launch()
{
    const std::string& id = cell("ID");
    if (id.empty() || id.size() > 18 || !std::all_of(id.begin(), id.end(), [](unsigned char c) { return isdigit(c); }))
        refuse_line("ID is '" + id + "'; expected a number");
    const std::string process = column("Process ID") < heading_.size() ? cell("Process ID") : "";
    const auto [known, fresh] = known_.try_emplace({process, std::stoull(id)}, file_.launches.size());
    if (fresh) {
        const std::string& kernel = cell("Kernel Name");
        if (kernel.size() > most_kernel_name) refuse_line(format("a kernel's name of %zu bytes", kernel.size()));
        file_.launches.push_back({known->first.second,
                                  kernel,
                                  shape("Grid Size"),
                                  shape("Block Size"),
                                  capability(),
                                  NcuPage::launches,
                                  {},
                                  {}});
    }
    return file_.launches[known->second];
}

void NcuReader::add(NcuLaunch& launch, const std::string& metric, const std::string& unit,
                    const std::string& value) const
{
    if (!is_counted(metric) || value.empty() || value == "n/a" || value == "nan" || value == "no data") return;
    const MaybeCount count = whole_count(value);
    // Ksector, for example.
    const bool rounded =
        unit.size() > 1 && std::strchr("KMGT", unit[0]) && std::islower(static_cast<unsigned char>(unit[1]));
    if (!count || rounded)
        refuse_line(metric + " is '" + value + (unit.empty() ? "" : " " + unit) +
                    "'; expected a whole number, as ncu --print-units base prints it");
    launch.values[metric] = *count;
}

void NcuReader::read_long()
{
    // The rows of the page details end before the columns of its rules.
    cells_needed_ = column("Metric Value") + 1;
    while (next_row()) {
        NcuLaunch& l = launch();
        add(l, cell("Metric Name"), column("Metric Unit") < heading_.size() ? cell("Metric Unit") : "",
            cell("Metric Value"));
    }
}

void NcuReader::read_wide()
{
    cells_needed_ = heading_.size();
    Row units(heading_.size());
    while (next_row()) {
        if (cell("ID").empty()) {
            units = row_;
            continue;
        }
        NcuLaunch& l = launch();
        for (size_t i = 0; i < heading_.size(); ++i) add(l, heading_[i], units[i], row_[i]);
    }
}

NcuFile NcuReader::read()
{
    const std::string whole = text();
    find_table(whole);
    if (table_ && column("Metric Name") < heading_.size()) read_long();
    else if (table_) read_wide();
    if (file_.launches.empty()) refuse("a table of Nsight Compute without a launch");
    file_.path = path_;
    return std::move(file_);
}

}  // namespace

MaybeCount whole_count(const std::string& text)
{
    std::string whole = text;
    // 32.000000 is 32; 32.000 is 32 000.
    const size_t point = whole.find_last_of(".,"), decimals = whole.size() - point - 1;
    if (point != whole.npos && decimals > 0 && decimals != 3 && whole.find_first_not_of('0', point + 1) == whole.npos)
        whole.resize(point);
    std::string digits;
    size_t group = 0;  // digits since the last separator
    char separator = 0;
    for (char c : whole) {
        if (std::isdigit(static_cast<unsigned char>(c))) {
            digits += c;
            ++group;
        } else {
            const bool fits = separator ? c == separator && group == 3 : group >= 1 && group <= 3;
            if (!fits || !std::strchr(",.' ", c)) return {};
            separator = c;
            group = 0;
        }
    }
    if (digits.empty() || digits.size() > 18 || (separator && group != 3)) return {};
    return std::stoull(digits);
}

NcuFile read_ncu_file(const std::string& path) { return NcuReader(path).read(); }

}  // namespace sim
