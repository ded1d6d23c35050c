// Numbers, texts and values of DWARF 5, in the sections of the program's own file.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace sim {

// Reads forwards. Behind the end it reads zeros, so a damaged file gives nonsense, but no crash.
struct Reader {
    std::string_view rest;

    bool more() const { return !rest.empty(); }
    void skip(uint64_t bytes) { rest.remove_prefix(std::min<uint64_t>(bytes, rest.size())); }

    // The next bytes, which this skips.
    Reader part(uint64_t bytes)
    {
        const Reader part{rest.substr(0, bytes)};
        skip(bytes);
        return part;
    }
    // The next unit. One of 64-bit DWARF, which this cannot read, goes on to the end.
    Reader unit() { return part(number(4)); }

    uint64_t number(unsigned bytes)
    {
        uint64_t value = 0;
        if (bytes <= rest.size()) std::memcpy(&value, rest.data(), bytes);
        skip(bytes);
        return value;
    }

    // Seven bits in each byte, the lowest first. If it has a sign, the last bit is repeated.
    uint64_t leb128(bool sign = false)
    {
        uint64_t value = 0, byte = 0x80;
        unsigned shift = 0;
        for (; byte & 0x80 && more(); shift += 7) {
            byte = number(1);
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
