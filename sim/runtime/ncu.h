// The counts of Nsight Compute, as ncu prints them with --csv.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../core/launch.h"

namespace sim {

using MaybeCount = std::optional<uint64_t>;

struct SourceLine {
    std::string path;
    int line;

    bool operator==(const SourceLine& o) const { return path == o.path && line == o.line; }
};

// An instruction of a kernel's machine code.
struct NcuInstruction {
    std::map<std::string, uint64_t> counts;  // by the names of ncu_counts()
    std::vector<SourceLine> lines;  // that it belongs to
};

// details and raw have counts of launches, source has counts of instructions.
enum class NcuPage { launches, source };

struct NcuLaunch {
    uint64_t id = 0;  // ncu's number of it; on the page `source`, the number of its table, from 1
    std::string kernel;  // as ncu prints the name
    dim3 grid, block;  // not on the page `source`
    int capability = 0;  // of the card, times ten; 0 if the file does not have it
    NcuPage page = NcuPage::launches;
    // Values of the metrics in ncu_metrics.csv. Those that are not available are left out.
    std::map<std::string, uint64_t> values;
    std::vector<NcuInstruction> instructions;  // of the page `source`
};

constexpr size_t most_kernel_name = size_t(1) << 16;  // bytes

struct NcuFile {
    std::string path;
    std::vector<NcuLaunch> launches;  // in the order of the file
};

// Reads the pages details, raw and source, and what --metrics prints. Throws Error with status_bad_input: one line.
NcuFile read_ncu_file(const std::string& path);

// A whole number, whose groups of three digits may be separated as in 131,072. Some languages write 131.072.
MaybeCount whole_count(const std::string& text);

}  // namespace sim
