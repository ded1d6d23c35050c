// Numbers, texts and values of DWARF 5, in the sections of the program's own file.

#pragma once

#include <cstdint>
#include <cstring>

#include "symbols.h"

namespace sim {

// Reads forwards, and zeros from the end on: a damaged file is nonsense, but no crash.
struct Reader {
    const unsigned char *at = nullptr, *end = nullptr;

    Reader() = default;
    explicit Reader(Bytes b, uint64_t offset = 0) : at(b.begin), end(b.end) { skip(offset); }

    bool more() const { return at < end; }
    void skip(uint64_t bytes) { at = bytes < uint64_t(end - at) ? at + bytes : end; }

    // The next bytes, which this skips.
    Reader part(uint64_t bytes)
    {
        Reader part = *this;
        skip(bytes);
        part.end = at;
        return part;
    }
    // The next unit. One of 64-bit DWARF, which this cannot read, goes on to the end.
    Reader unit() { return part(number(4)); }

    uint64_t number(unsigned bytes)
    {
        uint64_t value = 0;
        const Reader whole = part(bytes);
        if (uint64_t(whole.end - whole.at) == bytes) std::memcpy(&value, whole.at, bytes);
        return value;
    }

    // Seven bits in each byte, the lowest first. If it has a sign, the last bit is repeated.
    uint64_t leb128(bool sign = false)
    {
        uint64_t value = 0, byte = 0x80;
        unsigned shift = 0;
        for (; byte & 0x80 && more(); shift += 7) {
            byte = *at++;
            if (shift < 64) value |= (byte & 0x7f) << shift;
        }
        return sign && byte & 0x40 && shift < 64 ? value | ~uint64_t(0) << shift : value;
    }
};

// The value of an attribute: a number or a text, or neither of both if it is of no interest.
struct Value {
    uint64_t number = 0;
    const char* text = "";
    bool known = true;
};

// Reads a value of this form.
Value value_of(Reader& r, uint64_t form);

}  // namespace sim
