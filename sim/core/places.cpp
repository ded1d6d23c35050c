#include "places.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "symbols.h"

namespace sim {
namespace {

// The numbers of DWARF that are needed here, named as in the standard.
enum : unsigned {
    DW_LNS_copy = 1, DW_LNS_advance_pc, DW_LNS_advance_line, DW_LNS_set_file, DW_LNS_set_column, DW_LNS_negate_stmt,
    DW_LNS_set_basic_block, DW_LNS_const_add_pc, DW_LNS_fixed_advance_pc,
    DW_LNE_end_sequence = 1, DW_LNE_set_address,
    DW_LNCT_path = 1, DW_LNCT_directory_index,
    DW_TAG_inlined_subroutine = 0x1d, DW_TAG_subprogram = 0x2e,
    DW_AT_name = 0x03, DW_AT_stmt_list = 0x10, DW_AT_low_pc = 0x11, DW_AT_high_pc = 0x12, DW_AT_comp_dir = 0x1b, DW_AT_abstract_origin = 0x31, DW_AT_artificial = 0x34,
    DW_AT_specification = 0x47, DW_AT_ranges = 0x55, DW_AT_defaulted = 0x8b,
    DW_AT_call_column = 0x57, DW_AT_call_file = 0x58, DW_AT_call_line = 0x59,
    DW_RLE_offset_pair = 0x04, DW_RLE_base_address, DW_RLE_start_end, DW_RLE_start_length,
    DW_UT_compile = 1,
    DW_FORM_addr = 0x01, DW_FORM_block2 = 0x03, DW_FORM_block4 = 0x04, DW_FORM_data2 = 0x05, DW_FORM_data4 = 0x06, DW_FORM_data8 = 0x07,
    DW_FORM_string = 0x08, DW_FORM_block = 0x09, DW_FORM_block1 = 0x0a, DW_FORM_data1 = 0x0b, DW_FORM_flag = 0x0c, DW_FORM_sdata = 0x0d,
    DW_FORM_strp = 0x0e, DW_FORM_udata = 0x0f, DW_FORM_ref_addr = 0x10, DW_FORM_ref1, DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8,
    DW_FORM_ref_udata, DW_FORM_sec_offset = 0x17, DW_FORM_exprloc = 0x18, DW_FORM_flag_present = 0x19,
    DW_FORM_strx = 0x1a, DW_FORM_addrx = 0x1b, DW_FORM_data16 = 0x1e, DW_FORM_line_strp = 0x1f, DW_FORM_ref_sig8 = 0x20, DW_FORM_implicit_const = 0x21,
    DW_FORM_loclistx = 0x22, DW_FORM_rnglistx = 0x23, DW_FORM_strx1 = 0x25, DW_FORM_strx2 = 0x26, DW_FORM_strx3 = 0x27, DW_FORM_strx4 = 0x28,
    DW_FORM_addrx1 = 0x29, DW_FORM_addrx2, DW_FORM_addrx3, DW_FORM_addrx4,
};

// Reads forwards, and zeros from the end on: a damaged file is nonsense, but no crash.
struct Reader {
    const unsigned char *at = nullptr, *end = nullptr;
    bool wide = false;  // 64-bit DWARF

    Reader() = default;
    explicit Reader(Bytes b) : at(b.begin), end(b.end) {}

    bool more() const { return at < end; }
    void skip(uint64_t bytes) { at = bytes < uint64_t(end - at) ? at + bytes : end; }

    template <typename T>
    T get()
    {
        T value = 0;
        if (size_t(end - at) < sizeof value) at = end;
        else {
            std::memcpy(&value, at, sizeof value);
            at += sizeof value;
        }
        return value;
    }

    uint64_t offset() { return wide ? get<uint64_t>() : get<uint32_t>(); }

    uint64_t uleb()
    {
        uint64_t value = 0;
        for (unsigned shift = 0; more(); shift += 7) {
            const unsigned char byte = *at++;
            if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
            if (!(byte & 0x80)) break;
        }
        return value;
    }

    int64_t sleb()
    {
        uint64_t value = 0;
        unsigned shift = 0;
        unsigned char byte = 0;
        while (more()) {
            byte = *at++;
            if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
            shift += 7;
            if (!(byte & 0x80)) break;
        }
        if (byte & 0x40 && shift < 64) value |= ~uint64_t(0) << shift;
        return int64_t(value);
    }

    const char* string()
    {
        const void* zero = more() ? std::memchr(at, 0, end - at) : nullptr;
        const char* text = zero ? reinterpret_cast<const char*>(at) : "";
        at = zero ? static_cast<const unsigned char*>(zero) + 1 : end;
        return text;
    }

    // Begins a unit: the rest of it, of which this skips all.
    Reader unit()
    {
        Reader part;
        uint64_t length = get<uint32_t>();
        part.wide = length == 0xffffffff;
        if (part.wide) length = get<uint64_t>();
        part.at = at;
        skip(length);
        part.end = at;
        return part;
    }
};

const char* string_at(const char* section, uint64_t offset)
{
    Reader r(section_contents(section));
    r.skip(offset);
    return r.string();
}

// The value of an attribute: a number or a text, or neither of both if it is of no interest.
struct Value {
    uint64_t number = 0;
    const char* string = "";
    const char* section = nullptr;  // where the text lies, at the offset `number`
    bool known = true;

    const char* text() const { return section ? string_at(section, number) : string; }
};

Value value_of(Reader& r, uint64_t form)
{
    Value v;
    switch (form) {
    case DW_FORM_data1: case DW_FORM_flag: case DW_FORM_strx1: case DW_FORM_addrx1: case DW_FORM_ref1: v.number = r.get<uint8_t>(); break;
    case DW_FORM_data2: case DW_FORM_strx2: case DW_FORM_addrx2: case DW_FORM_ref2: v.number = r.get<uint16_t>(); break;
    case DW_FORM_data4: case DW_FORM_strx4: case DW_FORM_addrx4: case DW_FORM_ref4: v.number = r.get<uint32_t>(); break;
    case DW_FORM_data8: case DW_FORM_addr: case DW_FORM_ref8: case DW_FORM_ref_sig8: v.number = r.get<uint64_t>(); break;
    case DW_FORM_udata: case DW_FORM_strx: case DW_FORM_addrx: case DW_FORM_loclistx: case DW_FORM_rnglistx: case DW_FORM_ref_udata: v.number = r.uleb(); break;
    case DW_FORM_sec_offset: case DW_FORM_ref_addr: v.number = r.offset(); break;
    case DW_FORM_sdata: v.number = uint64_t(r.sleb()); break;
    case DW_FORM_data16: r.skip(16); break;
    case DW_FORM_strx3: case DW_FORM_addrx3: r.skip(3); break;
    case DW_FORM_block1: r.skip(r.get<uint8_t>()); break;
    case DW_FORM_block2: r.skip(r.get<uint16_t>()); break;
    case DW_FORM_block4: r.skip(r.get<uint32_t>()); break;
    case DW_FORM_block: case DW_FORM_exprloc: r.skip(r.uleb()); break;
    case DW_FORM_string: v.string = r.string(); break;
    case DW_FORM_strp: v.section = ".debug_str"; v.number = r.offset(); break;
    case DW_FORM_line_strp: v.section = ".debug_line_str"; v.number = r.offset(); break;
    case DW_FORM_flag_present: case DW_FORM_implicit_const: break;
    default: v.known = false;
    }
    return v;
}

// An entry of .debug_info: its tag and its attributes.
struct Entry {
    struct Attribute {
        uint64_t name, form;
        Value value;
    };
    uint64_t tag = 0;
    uint64_t offset = 0, unit = 0;  // in .debug_info: its own, and that of its unit
    std::vector<Attribute> attributes;

    const Attribute* find(uint64_t name) const
    {
        for (const Attribute& a : attributes)
            if (a.name == name) return &a;
        return nullptr;
    }
    uint64_t number(uint64_t name) const { return find(name) ? find(name)->value.number : 0; }
    // The offset of the entry that an attribute refers to; 0 if there is none.
    uint64_t reference(uint64_t name) const
    {
        const Attribute* a = find(name);
        return !a ? 0 : a->form == DW_FORM_ref_addr ? a->value.number : unit + a->value.number;
    }
};

// How the entries of a unit are written down, by their codes.
using Abbreviations = std::unordered_map<uint64_t, Entry>;

Abbreviations abbreviations_at(uint64_t offset)
{
    Abbreviations all;
    Reader r(section_contents(".debug_abbrev"));
    r.skip(offset);
    while (const uint64_t code = r.uleb()) {
        Entry& entry = all[code];
        entry.tag = r.uleb();
        r.skip(1);  // whether it has children
        for (;;) {
            Entry::Attribute a{r.uleb(), r.uleb(), {}};
            if (a.form == DW_FORM_implicit_const) a.value.number = uint64_t(r.sleb());
            if (!a.name) break;
            entry.attributes.push_back(a);
        }
    }
    return all;
}

// Calls visit(entry, version) for the entries of the unit in .debug_info that a line table belongs to, the unit's own first, outer
// ones before inner ones, for as long as it returns true.
template <typename Visit>
void for_entries(uint64_t line_table, Visit visit)
{
    const Bytes all = section_contents(".debug_info");
    Entry entry;
    for (Reader info(all); info.more();) {
        const uint64_t unit = info.at - all.begin;
        Reader r = info.unit();
        const unsigned version = r.get<uint16_t>();
        if (version < 2 || version > 5) continue;
        if (version == 5 && r.get<uint8_t>() != DW_UT_compile) continue;
        if (version == 5) r.skip(1);
        const Abbreviations abbreviations = abbreviations_at(r.offset());
        if (version < 5) r.skip(1);
        bool first = true;
        while (r.more()) {
            const uint64_t offset = r.at - all.begin;
            const uint64_t code = r.uleb();
            if (!code) continue;  // the end of an entry's children
            const auto known = abbreviations.find(code);
            if (known == abbreviations.end()) return;
            entry = known->second;
            entry.offset = offset;
            entry.unit = unit;
            for (Entry::Attribute& a : entry.attributes) {
                if (a.form != DW_FORM_implicit_const) a.value = value_of(r, a.form);
                if (!a.value.known) return;
            }
            if (first && (!entry.find(DW_AT_stmt_list) || entry.number(DW_AT_stmt_list) != line_table)) break;
            if (!visit(entry, version)) return;
            first = false;
        }
        if (!first) return;
    }
}

// A line table before version 5 does not have the folder of the compilation: the unit's entry does.
std::string folder_of(uint64_t line_table)
{
    std::string folder;
    for_entries(line_table, [&](const Entry& unit, unsigned) {
        if (const Entry::Attribute* a = unit.find(DW_AT_comp_dir)) folder = a->value.text();
        return false;
    });
    return folder;
}

// Code of a function that was inlined, and where it was called.
struct Inlined {
    uint64_t begin, end;  // as in the file
    uint64_t file, line, column;
    uint64_t function;      // its entry
    bool implicit = false;  // the compiler has written the function: it copies an object
};

// Calls add(begin, end) for the ranges of an entry. What clang has in tables of addresses is left out: it needs none of this.
template <typename Add>
void for_ranges(const Entry& entry, unsigned version, uint64_t base, Add add)
{
    const Entry::Attribute *low = entry.find(DW_AT_low_pc), *high = entry.find(DW_AT_high_pc), *ranges = entry.find(DW_AT_ranges);
    if (low && high && low->form == DW_FORM_addr) add(low->value.number, high->value.number + (high->form == DW_FORM_addr ? 0 : low->value.number));
    if (!ranges || ranges->form != DW_FORM_sec_offset) return;
    Reader r(section_contents(version < 5 ? ".debug_ranges" : ".debug_rnglists"));
    r.skip(ranges->value.number);
    while (r.more()) {
        uint64_t begin = 0, end = 0;
        if (version < 5) {
            begin = r.get<uint64_t>();
            end = r.get<uint64_t>();
            if (!begin && !end) return;
            if (begin == ~uint64_t(0)) base = end;
            else add(base + begin, base + end);
            continue;
        }
        switch (r.get<uint8_t>()) {
        case DW_RLE_offset_pair: begin = base + r.uleb(); end = base + r.uleb(); break;
        case DW_RLE_base_address: base = r.get<uint64_t>(); continue;
        case DW_RLE_start_end: begin = r.get<uint64_t>(); end = r.get<uint64_t>(); break;
        case DW_RLE_start_length: begin = r.get<uint64_t>(); end = begin + r.uleb(); break;
        default: return;
        }
        add(begin, end);
    }
}

// Those of the unit that a line table belongs to, outer ones before inner ones.
std::vector<Inlined> read_inlined(uint64_t line_table)
{
    std::vector<Inlined> all;
    std::unordered_map<uint64_t, uint64_t> declarations;  // of functions that are defined elsewhere
    std::unordered_set<uint64_t> implicit;
    uint64_t base = 0;
    for_entries(line_table, [&](const Entry& entry, unsigned version) {
        if (entry.find(DW_AT_stmt_list)) base = entry.number(DW_AT_low_pc);
        if (entry.tag == DW_TAG_subprogram) {
            // g++ marks the body of a lambda as artificial, too.
            const Entry::Attribute* name = entry.find(DW_AT_name);
            const bool lambda = name && !std::strcmp(name->value.text(), "operator()");
            if (!lambda && (entry.find(DW_AT_artificial) || entry.find(DW_AT_defaulted))) implicit.insert(entry.offset);
            if (const uint64_t declaration = entry.reference(DW_AT_specification)) declarations[entry.offset] = declaration;
        } else if (entry.tag == DW_TAG_inlined_subroutine) {
            for_ranges(entry, version, base, [&](uint64_t begin, uint64_t end) {
                all.push_back({begin, end, entry.number(DW_AT_call_file), entry.number(DW_AT_call_line), entry.number(DW_AT_call_column), entry.reference(DW_AT_abstract_origin)});
            });
        }
        return true;
    });
    for (Inlined& i : all) {
        const auto declared = declarations.find(i.function);
        i.implicit = implicit.count(i.function) || (declared != declarations.end() && implicit.count(declared->second));
    }
    return all;
}

const std::vector<Inlined>& inlined_in(uint64_t line_table)
{
    static std::mutex mutex;
    static auto& all = *new std::map<uint64_t, std::vector<Inlined>>;  // it outlives the program's own variables, which ask in their destructors
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [at, is_new] = all.try_emplace(line_table);
    if (is_new) at->second = read_inlined(line_table);
    return at->second;
}

// A line table: of a translation unit, or of a part of one.
struct Unit {
    uint64_t offset = 0;
    unsigned version = 0;
    Reader names;  // the tables of folders and files, read when they are needed
    unsigned step = 1, line_range = 1, opcode_base = 1;
    int line_base = 0;
    const unsigned char* operands = nullptr;  // how many each standard opcode has, from the first on
};

struct LineRow {
    uint64_t address;  // as in the file; the row holds from here on, until the next
    uint32_t line, column, file;
};

// Runs the program of a line table to the end of a sequence, and calls visit(row) for each row. Returns the address of the
// end; 0 if it is missing.
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

// Contiguous code. Its rows would take more memory than all that the simulator keeps of them: they are read again for each
// address that is looked for.
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
        auto s = std::upper_bound(sequences_.begin(), sequences_.end(), address, [](uint64_t a, const CodeRange& s) { return a < s.begin; });
        if (s == sequences_.begin() || address >= (--s)->end) return found;
        unit = &units_[s->unit];
        Reader r = s->program;
        // Of several rows at one address, the last has the instruction.
        run_sequence(*unit, r, [&](const LineRow& row) {
            if (row.address <= address) found = row;
        });
        forget({s->program.at, s->program.end});
        return found;
    }

    static std::string file_name(const Unit& unit, uint64_t number);

  private:
    LineTable()
    {
        const Bytes all = section_contents(".debug_line");
        for (Reader r(all); r.more();) {
            const unsigned char* begin = r.at;
            read_unit(r.unit(), begin - all.begin);
            forget({begin, r.at});
        }
        std::sort(sequences_.begin(), sequences_.end(), [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
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

std::string LineTable::file_name(const Unit& unit, uint64_t number)
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
        return path[0] == '/' ? path : join(folder_of(unit.offset), path);
    }
    return "";
}

std::string text_of(const std::string& file, int number)
{
    std::ifstream in(file);
    std::string line;
    for (int i = 0; i < number && std::getline(in, line); ++i) {}
    if (!in) return "";
    const size_t begin = line.find_first_not_of(" \t"), comment = line.find("//");
    if (begin == std::string::npos) return "";
    line = line.substr(begin, comment == std::string::npos ? comment : comment - begin);
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

// True if a file is no text of the program: it belongs to CUDA, to the C++ library or to the system.
bool is_library(const std::string& file)
{
    return file.find("sim/cuda/") != file.npos || file.find("/include/c++/") != file.npos || file.compare(0, 13, "/usr/include/") == 0;
}

// The place without its text, the file with its whole path.
Place find(uint64_t return_address)
{
    Place place;
    const Unit* unit = nullptr;
    // The call is in front of where it returns to.
    const uint64_t address = return_address - load_address() - 1;
    const LineRow row = LineTable::get().find(address, unit);
    // Line 0: the compiler does not say.
    if (!row.line) return place;
    const auto set = [&](uint64_t file, uint64_t line, uint64_t column) {
        place.file = std::filesystem::path(LineTable::file_name(*unit, file)).lexically_normal().string();
        place.line = place.file.empty() ? 0 : int(line);
        place.column = place.file.empty() ? 0 : int(column);
    };
    set(row.file, row.line, row.column);
    // An inlined function of a library, such as an operator of half, has the place where the program calls it. A copy that the compiler
    // makes of an object has the place where the program copies.
    const std::vector<Inlined>& inlined = inlined_in(unit->offset);
    for (auto i = inlined.rbegin(); i != inlined.rend(); ++i) {
        if (address < i->begin || address >= i->end || !i->line) continue;
        if (!i->implicit && !is_library(place.file)) break;
        set(i->file, i->line, i->column);
    }
    return place;
}

// What is asked again and again of an address.
struct Known {
    uint32_t number = 0;
    int line = 0, column = 0;
};

Known known(uint64_t return_address)
{
    static std::mutex mutex;
    static auto& all = *new std::unordered_map<uint64_t, Known>;
    static auto& numbers = *new std::map<std::tuple<std::string, std::string, int, int>, uint32_t>;
    static uint32_t next = 0;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [at, is_new] = all.try_emplace(return_address);
    Known& k = at->second;
    if (!is_new) return k;
    const Place place = find(return_address);
    const Symbol* function = function_at(return_address - 1);
    k.line = place.line;
    k.column = place.column;
    if (place.file.empty() || !function) k.number = next++;
    else {
        const auto [number, is_first] = numbers.try_emplace({source_function(*function), place.file, place.line, place.column}, next);
        k.number = number->second;
        next += is_first;
    }
    return k;
}

// Without the lock, of the addresses that this thread asked for last.
const Known& cached(uint64_t return_address)
{
    struct Entry {
        uint64_t address = 0;
        Known known;
    };
    static thread_local Entry entries[256];
    Entry& e = entries[(return_address ^ return_address >> 8) % 256];
    if (e.address != return_address) e = {return_address, known(return_address)};
    return e.known;
}

}  // namespace

Place place_of(uint64_t return_address)
{
    Place place = find(return_address);
    if (place.file.empty()) return place;
    place.text = text_of(place.file, place.line);
    // As a reader of this folder would name it.
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) && place.file.rfind(std::string(here) + "/", 0) == 0) place.file.erase(0, std::strlen(here) + 1);
    return place;
}

Spot spot_of(uint64_t return_address)
{
    const Known& k = cached(return_address);
    return {k.line, k.column};
}

uint32_t place_number(uint64_t return_address)
{
    return cached(return_address).number;
}

bool before(uint64_t return_address_a, uint64_t return_address_b)
{
    const Known a = cached(return_address_a), b = cached(return_address_b);
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

}  // namespace sim
