// A line table is the program of a small machine, whose registers are an address, a file, a line and a column. Each
// time it says so, they are a row of the table, which holds from its address on. A sequence of rows covers contiguous
// code.
//
// In: .debug_line. Kept: where each sequence begins and ends, which unit it is of, and where its program stands. The
// rows themselves would take more memory than all that the simulator keeps of them, so that the program of one sequence
// is run again for each address that is looked for: the search costs a logarithm in the sequences, and one run.
// places.cpp remembers the answers. Sequences whose code the linker left out are dropped.

#include "line_table.h"

#include <algorithm>
#include <utility>
#include <vector>

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
    LineRow row{0, 1, 0, 1};
    while (r.more()) {
        const unsigned opcode = *r.at++;
        if (opcode >= unit.opcode_base) {
            const unsigned n = opcode - unit.opcode_base;
            row.address += n / unit.line_range * unit.step;
            row.line += unit.line_base + int(n % unit.line_range);
            visit(row);
            continue;
        }
        switch (opcode) {
        case 0: {
            Reader part = r;
            const uint64_t bytes = r.uleb();
            part.at = r.at;
            r.skip(bytes);
            part.end = r.at;
            switch (part.get<uint8_t>()) {
            case DW_LNE_set_address: row.address = part.get<uint64_t>(); break;
            case DW_LNE_end_sequence: return row.address;
            }
            break;
        }
        case DW_LNS_copy: visit(row); break;
        case DW_LNS_advance_pc: row.address += r.uleb() * unit.step; break;
        case DW_LNS_advance_line: row.line += uint32_t(r.sleb()); break;
        case DW_LNS_set_file: row.file = uint32_t(r.uleb()); break;
        case DW_LNS_set_column: row.column = uint32_t(r.uleb()); break;
        case DW_LNS_negate_stmt: case DW_LNS_set_basic_block: break;
        case DW_LNS_const_add_pc: row.address += (255 - unit.opcode_base) / unit.line_range * unit.step; break;
        case DW_LNS_fixed_advance_pc: row.address += r.get<uint16_t>(); break;
        default:
            for (int i = 0; i < unit.operands[opcode - 1]; ++i) r.uleb();
        }
    }
    return 0;
}

// Contiguous code. Its rows would take more memory than all that the simulator keeps of them: they are read again for
// each address that is looked for.
struct CodeRange {
    uint64_t begin, end;  // as in the file
    size_t unit;
    Reader program;
};

class LineTable {
  public:
    static const LineTable& get()
    {
        static const LineTable table;
        return table;
    }

    // The row of an address in the file, its line 0 if there is none.
    LineRow find(uint64_t address, const Unit*& unit) const
    {
        LineRow found{};
        auto s = std::upper_bound(sequences_.begin(), sequences_.end(), address,
                                  [](uint64_t a, const CodeRange& s) { return a < s.begin; });
        if (s == sequences_.begin() || address >= (--s)->end) return found;
        unit = &units_[s->unit];
        Reader r = s->program;
        // Several rows can have one address. The last of them describes the instruction.
        run_sequence(*unit, r, [&](const LineRow& row) {
            if (row.address <= address) found = row;
        });
        forget({s->program.at, s->program.end});
        return found;
    }

  private:
    LineTable()
    {
        const Bytes all = section_contents(".debug_line");
        for (Reader r(all); r.more();) {
            const unsigned char* begin = r.at;
            read_unit(r.unit(), begin - all.begin);
            forget({begin, r.at});
        }
        std::sort(sequences_.begin(), sequences_.end(),
                  [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
    }

    void read_unit(Reader r, uint64_t offset);

    std::vector<Unit> units_;
    std::vector<CodeRange> sequences_;
};

void LineTable::read_unit(Reader r, uint64_t offset)
{
    Unit unit;
    unit.offset = offset;
    unit.version = r.get<uint16_t>();
    if (unit.version < 2 || unit.version > 5) return;
    if (unit.version >= 5) r.skip(2);  // sizes of addresses and of segments
    const uint64_t header = r.offset();
    unit.names = r;
    r.skip(header);
    unit.names.end = r.at;

    Reader& h = unit.names;
    unit.step = h.get<uint8_t>();
    if (unit.version >= 4) h.skip(1);  // operations per instruction: 1
    h.skip(1);                         // is_stmt
    unit.line_base = h.get<int8_t>();
    unit.line_range = h.get<uint8_t>();
    unit.opcode_base = h.get<uint8_t>();
    unit.operands = h.at;
    if (!unit.line_range || !unit.opcode_base || unit.opcode_base - 1 > h.end - h.at) return;
    h.skip(unit.opcode_base - 1);
    units_.push_back(unit);

    while (r.more()) {
        Reader program = r;
        uint64_t begin = 0, last = 0;
        bool any = false, ordered = true;
        const uint64_t end = run_sequence(unit, r, [&](const LineRow& row) {
            if (!any) begin = row.address;
            ordered = ordered && (!any || row.address >= last);
            last = row.address;
            any = true;
        });
        program.end = r.at;
        // Functions that the linker left out are somewhere else, mostly at 0.
        if (any && ordered && is_code(begin, end)) sequences_.push_back({begin, end, units_.size() - 1, program});
    }
}

// A line table before version 5 does not have the folder of the compilation: the unit's entry does.
std::string folder_in_entry(uint64_t line_table)
{
    std::string folder;
    for_entries(line_table, [&](const Entry& unit, unsigned) {
        if (const Entry::Attribute* a = unit.find(DW_AT_comp_dir)) folder = a->value.text();
        return false;
    });
    return folder;
}

std::string join(const std::string& folder, const std::string& name)
{
    return folder.empty() || name.empty() || name[0] == '/' ? name : folder + "/" + name;
}

struct Name {
    const char* text = "";
    uint64_t folder = 0;
};

// The next table of version 5, of folders or of files.
std::vector<Name> names_of(Reader& r)
{
    std::vector<std::pair<uint64_t, uint64_t>> format(r.get<uint8_t>());
    for (auto& [type, form] : format) {
        type = r.uleb();
        form = r.uleb();
    }
    std::vector<Name> names;
    const uint64_t count = r.uleb();
    for (uint64_t i = 0; i < count && r.more() && !format.empty(); ++i) {
        Name name;
        for (const auto& [type, form] : format) {
            const Value v = value_of(r, form);
            if (!v.known) return {};
            if (type == DW_LNCT_path) name.text = v.text();
            if (type == DW_LNCT_directory_index) name.folder = v.number;
        }
        names.push_back(name);
    }
    return names;
}

}  // namespace

LineRow row_at(uint64_t address, const Unit*& unit) { return LineTable::get().find(address, unit); }

std::string file_name(const Unit& unit, uint64_t number)
{
    Reader r = unit.names;
    if (unit.version >= 5) {
        // The first folder is the compilation's.
        const std::vector<Name> folders = names_of(r), files = names_of(r);
        if (number >= files.size() || files[number].folder >= folders.size()) return "";
        return join(folders[0].text, join(folders[files[number].folder].text, files[number].text));
    }
    std::vector<const char*> folders(1, "");
    while (r.more() && *r.at) folders.push_back(r.string());
    r.skip(1);
    for (uint64_t i = 1; r.more() && *r.at; ++i) {
        const char* name = r.string();
        const uint64_t folder = r.uleb();
        r.uleb();  // time
        r.uleb();  // size
        if (i != number) continue;
        const std::string path = join(folder < folders.size() ? folders[folder] : "", name);
        return path[0] == '/' ? path : join(folder_in_entry(unit.offset), path);
    }
    return "";
}

std::string folder_of(const Unit& unit)
{
    if (unit.version < 5) return folder_in_entry(unit.offset);
    Reader r = unit.names;
    const std::vector<Name> folders = names_of(r);
    return folders.empty() ? "" : folders[0].text;
}

}  // namespace sim
