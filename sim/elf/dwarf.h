// Debug information of DWARF 2 to 5, in the sections of the program's own file.
//
// Interface: Reader, numbers and strings of a section; Value, what an attribute has; Entry, a part of .debug_info, and
// for_entries(), which visits those of one unit.

#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "symbols.h"

namespace sim {

// Numbers of DWARF, named as in the standard.
enum : unsigned {
    DW_TAG_inlined_subroutine = 0x1d,
    DW_TAG_subprogram = 0x2e,

    DW_AT_name = 0x03,
    DW_AT_stmt_list = 0x10,
    DW_AT_low_pc = 0x11,
    DW_AT_high_pc = 0x12,
    DW_AT_comp_dir = 0x1b,
    DW_AT_abstract_origin = 0x31,
    DW_AT_artificial = 0x34,
    DW_AT_specification = 0x47,
    DW_AT_ranges = 0x55,
    DW_AT_call_column = 0x57,
    DW_AT_call_file = 0x58,
    DW_AT_call_line = 0x59,
    DW_AT_defaulted = 0x8b,

    DW_FORM_addr = 0x01,
    DW_FORM_sec_offset = 0x17,
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

// The value of an attribute: a number or a text, or neither of both if it is of no interest.
struct Value {
    uint64_t number = 0;
    const char* string = "";
    const char* section = nullptr;  // where the text lies, at the offset `number`
    bool known = true;

    const char* text() const;
};

// Reads a value of this form.
Value value_of(Reader& r, uint64_t form);

// An entry of .debug_info: its tag and its attributes.
struct Entry {
    struct Attribute {
        uint64_t name, form;
        Value value;
        bool absolute() const;  // a reference counts from where the section begins, not the unit
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
        return !a ? 0 : a->absolute() ? a->value.number : unit + a->value.number;
    }
};

// Calls visit(entry, version) for the entries of the unit in .debug_info that a line table belongs to, the unit's own
// first, outer ones before inner ones, for as long as it returns true.
void for_entries(uint64_t line_table, const std::function<bool(const Entry&, unsigned version)>& visit);

}  // namespace sim
