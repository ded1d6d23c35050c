// .debug_info has a tree of entries for each unit, written as a row. How an entry is written, its tag and the forms of
// its attributes, stands once in .debug_abbrev, under a code; the entry has the code and the values.
//
// In: a line table, by which its unit is found: those in front are skipped by their length. Out: which code came from
// which call. A function that the compiler wrote itself, such as a copy constructor, is marked: an access in it belongs
// to the place that copies. Each unit is read once, when a place in it is first looked for, and its list is kept.

#include "inlined.h"

#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "dwarf.h"
#include "symbols.h"

namespace sim {
namespace {

// Numbers of DWARF, named as in the standard.
enum : unsigned {
    DW_UT_compile = 1,

    DW_TAG_inlined_subroutine = 0x1d, DW_TAG_subprogram = 0x2e,

    DW_AT_name = 0x03, DW_AT_stmt_list = 0x10, DW_AT_low_pc, DW_AT_high_pc, DW_AT_abstract_origin = 0x31,
    DW_AT_artificial = 0x34, DW_AT_specification = 0x47, DW_AT_ranges = 0x55,
    DW_AT_call_column = 0x57, DW_AT_call_file, DW_AT_call_line, DW_AT_defaulted = 0x8b,

    DW_FORM_addr = 0x01, DW_FORM_ref1 = 0x11, DW_FORM_ref_udata = 0x15, DW_FORM_sec_offset = 0x17,
    DW_FORM_implicit_const = 0x21,

    DW_RLE_offset_pair = 0x04, DW_RLE_base_address, DW_RLE_start_end, DW_RLE_start_length,
};

struct Attribute : Value {
    uint64_t name = 0, form = 0;
};

struct Entry {
    uint64_t tag = 0;
    std::vector<Attribute> attributes;

    // The attribute of this name. If there is none, its form is 0.
    const Attribute& operator[](uint64_t name) const
    {
        static const Attribute none;
        for (const Attribute& a : attributes)
            if (a.name == name) return a;
        return none;
    }
};

// How the entries of a unit are written, by their codes.
std::unordered_map<uint64_t, Entry> abbreviations_at(uint64_t offset)
{
    std::unordered_map<uint64_t, Entry> all;
    Reader r{section_contents(".debug_abbrev", offset)};
    while (const uint64_t code = r.leb128()) {
        Entry& entry = all[code];
        entry.tag = r.leb128();
        r.skip(1);  // whether it has children
        for (;;) {
            Attribute a;
            a.name = r.leb128();
            a.form = r.leb128();
            if (a.form == DW_FORM_implicit_const) a.number = r.leb128(true);
            if (!a.name) break;
            entry.attributes.push_back(a);
        }
    }
    return all;
}

// Calls visit(entry, offset) for the entries of the unit that a line table belongs to, the unit's own first, outer ones
// before inner ones. References are offsets in the section, as those of entries are.
template <typename Visit>
void for_entries(uint64_t line_table, Visit visit)
{
    const std::string_view all = section_contents(".debug_info");
    for (Reader info{all}; info.more();) {
        const uint64_t unit = all.size() - info.rest.size();
        Reader r = info.unit();
        const uint64_t end = all.size() - info.rest.size();
        if (r.number(2) != 5 || r.number(1) != DW_UT_compile) continue;
        r.skip(1);  // the size of addresses
        auto abbreviations = abbreviations_at(r.number(4));
        bool first = true;
        for (; r.more(); first = false) {
            const uint64_t offset = end - r.rest.size(), code = r.leb128();
            if (!code) continue;  // the end of an entry's children
            const auto known = abbreviations.find(code);
            if (known == abbreviations.end()) return;
            Entry& entry = known->second;
            for (Attribute& a : entry.attributes) {
                if (a.form != DW_FORM_implicit_const) static_cast<Value&>(a) = value_of(r, a.form);
                if (!a.known) return;
                if (a.form >= DW_FORM_ref1 && a.form <= DW_FORM_ref_udata) a.number += unit;
            }
            if (first && !(entry[DW_AT_stmt_list].form && entry[DW_AT_stmt_list].number == line_table)) break;
            visit(entry, offset);
        }
        if (!first) return;
    }
}

// Calls add(begin, end) for the ranges of an entry. Ranges that clang puts into tables of addresses are left out,
// because code of clang does not need them.
template <typename Add>
void for_ranges(const Entry& entry, uint64_t base, Add add)
{
    const Attribute &low = entry[DW_AT_low_pc], &ranges = entry[DW_AT_ranges];
    if (low.form == DW_FORM_addr) add(low.number, low.number + entry[DW_AT_high_pc].number);
    if (ranges.form != DW_FORM_sec_offset) return;
    for (Reader r{section_contents(".debug_rnglists", ranges.number)};;) {
        uint64_t begin = 0, end = 0;
        switch (r.number(1)) {
        case DW_RLE_offset_pair: begin = base + r.leb128(); end = base + r.leb128(); break;
            case DW_RLE_base_address: base = r.number(8); continue;
        case DW_RLE_start_end: begin = r.number(8); end = r.number(8); break;
        case DW_RLE_start_length: begin = r.number(8); end = begin + r.leb128(); break;
            default: return;
        }
        add(begin, end);
    }
}

std::vector<Inlined> read_inlined(uint64_t line_table)
{
    std::vector<Inlined> all;
    struct Function {
        bool implicit = false;
        uint64_t declaration = 0;  // if it is defined elsewhere: its declaration
    };
    std::unordered_map<uint64_t, Function> functions;
    uint64_t base = 0;
    for_entries(line_table, [&](const Entry& entry, uint64_t offset) {
        if (entry[DW_AT_stmt_list].form) base = entry[DW_AT_low_pc].number;
        if (entry.tag == DW_TAG_subprogram) {
            // g++ marks the body of a lambda as artificial, too.
            const bool lambda = !std::strcmp(entry[DW_AT_name].text, "operator()");
            functions[offset] = {!lambda && (entry[DW_AT_artificial].form || entry[DW_AT_defaulted].form),
                                 entry[DW_AT_specification].number};
        } else if (entry.tag == DW_TAG_inlined_subroutine) {
            for_ranges(entry, base, [&](uint64_t begin, uint64_t end) {
                Inlined inlined;
                inlined.begin = begin;
                inlined.end = end;
                inlined.file = entry[DW_AT_call_file].number;
                inlined.line = entry[DW_AT_call_line].number;
                inlined.column = entry[DW_AT_call_column].number;
                inlined.function = entry[DW_AT_abstract_origin].number;
                all.push_back(inlined);
            });
        }
    });
    for (Inlined& i : all) {
        const Function of = functions[i.function];
        i.implicit = of.implicit || functions[of.declaration].implicit;
    }
    return all;
}

}  // namespace

const std::vector<Inlined>& inlined_in(uint64_t line_table)
{
    static std::mutex mutex;
    // The list outlives the program's own variables, whose destructors ask for it.
    static auto& all = *new std::map<uint64_t, std::vector<Inlined>>;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [at, is_new] = all.try_emplace(line_table);
    if (is_new) at->second = read_inlined(line_table);
    return at->second;
}

}  // namespace sim
