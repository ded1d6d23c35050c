// Finds out what is wrong with a matrix. In: a matrix on the device, and its expected contents. Out: a sentence about
// the first wrong element, or every element as a number. Bits are looked up by making the patterns of all input
// elements again, one after another, so the cost of a look-up is linear in the matrix.

#include "verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/finding_kinds.h"

namespace harness {
namespace {

uint128_t mask(Type type) { return ~uint128_t(0) >> (128 - 8 * bytes_of(type)); }

uint128_t bits_at(const Contents& contents, uint64_t o)
{
    return with_bits(contents.type, [&](auto zero) { return uint128_t(contents.at<decltype(zero)>(o)); });
}

// The bits of the element at this place in memory.
uint128_t bits_in(const void* memory, Type type)
{
    uint128_t bits = 0;
    std::memcpy(&bits, memory, bytes_of(type));
    return bits;
}

template <typename Number, typename Bits>
Number number_of(Bits bits)
{
    Number number;
    static_assert(sizeof number == sizeof bits);
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

// 1 bit of sign, 5 of exponent, 10 of fraction.
double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                                       : std::ldexp(exponent ? 1024 + fraction : fraction, std::max(exponent, 1) - 25);
    return bits >> 15 ? -size : size;
}

std::string value_text(uint128_t bits, Type type)
{
    const uint64_t low = uint64_t(bits), high = uint64_t(bits >> 64);
    switch (type) {
        case Type::i8: return format("%d [0x%02x]", int8_t(low), unsigned(low));
        case Type::f16: return format("%.5g [0x%04x]", half_value(uint16_t(low)), unsigned(low));
        case Type::f32: return format("%.9g [0x%08x]", number_of<float>(uint32_t(low)), unsigned(low));
        case Type::f64: return format("%.17g [0x%016llx]", number_of<double>(low), (unsigned long long)low);
        case Type::i32: return format("%d [0x%08x]", int32_t(low), unsigned(low));
        case Type::f64x2:
            return format("(%.17g, %.17g) [0x%016llx%016llx]", number_of<double>(low), number_of<double>(high),
                          (unsigned long long)high, (unsigned long long)low);
    }
    return "";
}

std::string place(uint64_t index, uint64_t columns)
{
    return format("row %llu, column %llu", (unsigned long long)(index / columns),
                  (unsigned long long)(index % columns));
}

}  // namespace

uint64_t origin(const Contents& contents, uint128_t bits)
{
    const uint64_t elements = contents.width * contents.height;
    return with_bits(contents.type, [&](auto zero) {
        using Bits = decltype(zero);
        uint64_t i = 0;
        while (i < elements && contents.element<Bits>(i) != Bits(bits)) ++i;
        return i;
    });
}

Finding describe(Device& device, const Region& matrix, const Mismatch& mismatch)
{
    const Contents& contents = matrix.contents;
    const Type type = contents.type;
    const uint64_t o = mismatch.first, bytes = bytes_of(type);
    uint128_t found = 0;
    device.read(&found, static_cast<const char*>(matrix.data) + o * bytes, bytes);
    const uint128_t expected = bits_at(contents, o);
    const bool sum = contents.expected.operands() > 1, output = contents.holds != Holds::input;

    std::string due = "", remark = "no element of the input";
    const uint64_t columns = output ? contents.pitch() : contents.width;
    const bool written = !output || contents.written(o);
    if (!written) {
        due = "as it was";
    } else {
        const uint64_t i = output ? contents.source(o) : o;
        due = sum && output ? format("a sum of two elements, %llu of y", (unsigned long long)i)
                            : "idata " + place(i, contents.width);
    }
    const uint64_t elements = contents.width * contents.height;
    const uint64_t from = sum ? elements : origin(contents, found);
    const bool repeats = bytes < 8 && elements >> 8 * bytes;
    if (from < elements) remark = (repeats ? "as in idata " : "idata ") + place(from, contents.width);
    if (written && found == (~expected & mask(type))) remark = "never written";
    Finding wrong(
        kinds::wrong_result,
        format("%llu of %llu elements differ; first at %s of %s: expected %s (%s), found %s (%s)",
               (unsigned long long)mismatch.count, (unsigned long long)contents.elements(),
               place(o, columns).c_str(), output ? "odata" : "idata", value_text(expected, type).c_str(),
               due.c_str(), value_text(found, type).c_str(), remark.c_str()));
    wrong.memory = output ? "odata" : "idata";
    if (output && written && !sum) {
        const uint64_t i = contents.source(o), width = contents.width;
        WrongElement& element = wrong.wrong.emplace();
        element.row = o / columns;
        element.column = o % columns;
        element.expected_row = i / width;
        element.expected_column = i % width;
    }
    return wrong;
}

std::string Numbered::text() const
{
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        for (const std::string& cell : row) text += format("%*s", cell_width, cell.c_str());
        text += "\n";
    }
    return text;
}

Numbered numbered(Device& device, const Region& matrix)
{
    const Contents& contents = matrix.contents;
    const uint64_t bytes = bytes_of(contents.type), elements = contents.width * contents.height;
    const bool output = contents.holds != Holds::input;
    const uint64_t columns = output ? contents.pitch() : contents.width;
    std::vector<char> data(contents.elements() * bytes);
    device.read(data.data(), matrix.data, data.size());
    Numbered numbers{{}, int(std::to_string(elements - 1).size()) + 1};
    for (uint64_t o = 0; o < contents.elements(); ++o) {
        const uint128_t found = bits_in(&data[o * bytes], contents.type);
        // Patterns may repeat, so an element with the expected bits counts as the expected element.
        const bool right =
            contents.expected.operands() == 1 && (!output || contents.written(o)) && found == bits_at(contents, o);
        if (o % columns == 0) numbers.rows.emplace_back();
        const uint64_t from = right ? output ? contents.source(o) : o : origin(contents, found);
        numbers.rows.back().push_back(from < elements ? std::to_string(from) : "?");
    }
    return numbers;
}

}  // namespace harness
