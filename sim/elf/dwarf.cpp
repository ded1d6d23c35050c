// .debug_info is a tree of entries, written as a row. How an entry is written, its tag and the forms of its attributes,
// stands once in .debug_abbrev, under a code; the entry has the code and the values. To find a unit's entries, all
// units in front are skipped by their length. A form that is not known ends the search, since its length is not known
// either: places are then unknown, and nothing is wrong. The file is read where it is mapped, and nothing of it is
// kept.

#include "dwarf.h"

#include <unordered_map>

namespace sim {
namespace {

enum : unsigned {
    DW_UT_compile = 1,

    DW_FORM_block2 = 0x03, DW_FORM_block4, DW_FORM_data2, DW_FORM_data4, DW_FORM_data8,
    DW_FORM_string = 0x08, DW_FORM_block, DW_FORM_block1, DW_FORM_data1, DW_FORM_flag, DW_FORM_sdata,
    DW_FORM_strp = 0x0e, DW_FORM_udata, DW_FORM_ref_addr, DW_FORM_ref1, DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8,
    DW_FORM_ref_udata = 0x15, DW_FORM_exprloc = 0x18, DW_FORM_flag_present = 0x19,
    DW_FORM_strx = 0x1a, DW_FORM_addrx, DW_FORM_data16 = 0x1e, DW_FORM_line_strp = 0x1f,
    DW_FORM_ref_sig8 = 0x20, DW_FORM_implicit_const, DW_FORM_loclistx, DW_FORM_rnglistx,
    DW_FORM_strx1 = 0x25, DW_FORM_strx2, DW_FORM_strx3, DW_FORM_strx4,
    DW_FORM_addrx1 = 0x29, DW_FORM_addrx2, DW_FORM_addrx3, DW_FORM_addrx4,
};

const char* string_at(const char* section, uint64_t offset)
{
    Reader r(section_contents(section));
    r.skip(offset);
    return r.string();
}

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

}  // namespace

const char* Value::text() const { return section ? string_at(section, number) : string; }

bool Entry::Attribute::absolute() const { return form == DW_FORM_ref_addr; }

Value value_of(Reader& r, uint64_t form)
{
    Value v;
    switch (form) {
        case DW_FORM_data1:
        case DW_FORM_flag:
        case DW_FORM_strx1:
        case DW_FORM_addrx1:
        case DW_FORM_ref1: v.number = r.get<uint8_t>(); break;
        case DW_FORM_data2:
        case DW_FORM_strx2:
        case DW_FORM_addrx2:
        case DW_FORM_ref2: v.number = r.get<uint16_t>(); break;
        case DW_FORM_data4:
        case DW_FORM_strx4:
        case DW_FORM_addrx4:
        case DW_FORM_ref4: v.number = r.get<uint32_t>(); break;
        case DW_FORM_data8:
        case DW_FORM_addr:
        case DW_FORM_ref8:
        case DW_FORM_ref_sig8: v.number = r.get<uint64_t>(); break;
        case DW_FORM_udata:
        case DW_FORM_strx:
        case DW_FORM_addrx:
        case DW_FORM_loclistx:
        case DW_FORM_rnglistx:
        case DW_FORM_ref_udata: v.number = r.uleb(); break;
        case DW_FORM_sec_offset:
        case DW_FORM_ref_addr: v.number = r.offset(); break;
        case DW_FORM_sdata: v.number = uint64_t(r.sleb()); break;
        case DW_FORM_data16: r.skip(16); break;
        case DW_FORM_strx3:
        case DW_FORM_addrx3: r.skip(3); break;
        case DW_FORM_block1: r.skip(r.get<uint8_t>()); break;
        case DW_FORM_block2: r.skip(r.get<uint16_t>()); break;
        case DW_FORM_block4: r.skip(r.get<uint32_t>()); break;
        case DW_FORM_block:
        case DW_FORM_exprloc: r.skip(r.uleb()); break;
        case DW_FORM_string: v.string = r.string(); break;
        case DW_FORM_strp:
            v.section = ".debug_str";
            v.number = r.offset();
            break;
        case DW_FORM_line_strp:
            v.section = ".debug_line_str";
            v.number = r.offset();
            break;
        case DW_FORM_flag_present:
        case DW_FORM_implicit_const: break;
        default: v.known = false;
    }
    return v;
}

void for_entries(uint64_t line_table, const std::function<bool(const Entry&, unsigned version)>& visit)
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

}  // namespace sim
