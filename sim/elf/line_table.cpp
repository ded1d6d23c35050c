// A line table is the program of a small machine, whose registers are an address, a file, a line and a column. Some of
// its instructions add the registers to the table as a row, which holds from its address on. A sequence of rows covers
// contiguous code.
//
// In: .debug_line. Kept: where each sequence begins and ends, which unit it is of, and where its program stands. The
// rows themselves would take more memory than all that the simulator keeps of them, so that the program of one sequence
// is run again for each address that is looked for: the search costs a logarithm in the sequences, and one run.
// places.cpp remembers the answers. Sequences whose code the linker left out are dropped.
//
// A unit that is not of DWARF 5, such as that of a library, is skipped: its places are unknown.

#include "line_table.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "symbols.h"

namespace sim {
namespace {

enum : unsigned {
    DW_LNS_copy = 1, DW_LNS_advance_pc, DW_LNS_advance_line, DW_LNS_set_file, DW_LNS_set_column, DW_LNS_negate_stmt,
    DW_LNS_set_basic_block, DW_LNS_const_add_pc, DW_LNS_fixed_advance_pc,
    DW_LNE_end_sequence = 1, DW_LNE_set_address,
    DW_LNCT_path = 1, DW_LNCT_directory_index,
};

// Runs the program of a line table to the end of a sequence, and calls visit(row) for each row. Returns the address of
// the end; 0 if it is missing.
template <typename Visit>
uint64_t run_sequence(const Unit& unit, Reader& r, Visit visit)
{
    LineRow row{};
    row.line = row.file = 1;
    while (r.more()) {
        const unsigned opcode = r.number(1);
        if (opcode >= unit.opcode_base) {
            const unsigned n = opcode - unit.opcode_base;
            row.address += n / unit.line_range * unit.step;
            row.line += unit.line_base + int(n % unit.line_range);
            visit(row);
            continue;
        }
        switch (opcode) {
            case 0: {
                Reader part = r.part(r.leb128());
                const uint64_t extended = part.number(1);
                if (extended == DW_LNE_set_address) row.address = part.number(8);
                if (extended == DW_LNE_end_sequence) return row.address;
                break;
            }
            case DW_LNS_copy: visit(row); break;
            case DW_LNS_advance_pc: row.address += r.leb128() * unit.step; break;
            case DW_LNS_advance_line: row.line += uint32_t(r.leb128(true)); break;
            case DW_LNS_set_file: row.file = uint32_t(r.leb128()); break;
            case DW_LNS_set_column: row.column = uint32_t(r.leb128()); break;
            case DW_LNS_const_add_pc: row.address += (255 - unit.opcode_base) / unit.line_range * unit.step; break;
            case DW_LNS_fixed_advance_pc: row.address += r.number(2); break;
            default:
                for (int i = 0; i < unit.operands[opcode - 1]; ++i) r.leb128();
        }
    }
    return 0;
}

// Contiguous code, and the program of its rows.
struct Sequence {
    uint64_t begin, end;  // as in the file
    const Unit* unit;
    Reader program;
};

void read_unit(Reader r, uint64_t offset, std::vector<Sequence>& sequences)
{
    static auto& units = *new std::deque<Unit>;
    if (r.number(2) != 5) return;
    r.skip(2);  // sizes of addresses and of segments
    Unit unit;
    unit.offset = offset;
    unit.names = r.part(r.number(4));
    Reader& h = unit.names;
    unit.step = h.number(1);
    h.skip(2);  // operations per instruction: 1; is_stmt
    unit.line_base = int8_t(h.number(1));
    unit.line_range = h.number(1);
    unit.opcode_base = h.number(1);
    unit.operands = h.part(unit.opcode_base - 1).rest;
    if (!unit.line_range || unit.operands.size() + 1 != unit.opcode_base) return;
    units.push_back(unit);

    while (r.more()) {
        const std::string_view program = r.rest;
        uint64_t begin = ~uint64_t(0);
        const uint64_t end =
            run_sequence(unit, r, [&](const LineRow& row) { begin = std::min(begin, row.address); });
        // Functions that the linker left out are at 0, or from the last address on.
        if (begin && begin < end) sequences.push_back({begin, end, &units.back(), {program}});
    }
}

std::vector<Sequence> read_sequences()
{
    std::vector<Sequence> all;
    const std::string_view section = section_contents(".debug_line");
    for (Reader r{section}; r.more();) {
        const uint64_t offset = section.size() - r.rest.size();
        read_unit(r.unit(), offset, all);
    }
    forget_file();
    std::sort(all.begin(), all.end(), [](const Sequence& a, const Sequence& b) { return a.begin < b.begin; });
    return all;
}

struct Name {
    const char* text = "";
    uint64_t folder = 0;
};

// Reads the next table, of folders or of files.
std::vector<Name> names_of(Reader& r)
{
    std::vector<std::pair<uint64_t, uint64_t>> format(r.number(1));
    for (auto& [type, form] : format) {
        type = r.leb128();
        form = r.leb128();
    }
    std::vector<Name> names;
    for (uint64_t left = r.leb128(); left && r.more() && !format.empty(); --left) {
        Name name;
        for (const auto& [type, form] : format) {
            const Value v = value_of(r, form);
            if (!v.known) return {};
            if (type == DW_LNCT_path) name.text = v.text;
            if (type == DW_LNCT_directory_index) name.folder = v.number;
        }
        names.push_back(name);
    }
    return names;
}

}  // namespace

LineRow row_at(uint64_t address, const Unit*& unit)
{
    static const auto& all = *new std::vector<Sequence>(read_sequences());
    LineRow found{};
    auto s = std::upper_bound(all.begin(), all.end(), address,
                              [](uint64_t a, const Sequence& s) { return a < s.begin; });
    if (s == all.begin() || address >= (--s)->end) return found;
    unit = s->unit;
    Reader r = s->program;
    // Several rows can have one address. The last of them describes the instruction.
    run_sequence(*unit, r, [&](const LineRow& row) {
        if (row.address <= address) found = row;
    });
    forget_file();
    return found;
}

std::filesystem::path file_name(const Unit& unit, uint64_t number)
{
    Reader r = unit.names;
    const std::vector<Name> folders = names_of(r), files = names_of(r);
    if (number >= files.size() || files[number].folder >= folders.size()) return "";
    // A path from the root replaces what is in front of it.
    return std::filesystem::path(folders[0].text) / folders[files[number].folder].text / files[number].text;
}

std::filesystem::path folder_of(const Unit& unit)
{
    Reader r = unit.names;
    const std::vector<Name> folders = names_of(r);
    return folders.empty() ? "" : folders[0].text;
}

}  // namespace sim
