#include "verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/finding_kinds.h"

namespace harness {
namespace {

// The inverse of v ^ (v >> shift).
template <typename Bits>
Bits unshift(Bits v, int shift)
{
    Bits r = v;
    for (int known = shift; known < int(8 * sizeof(Bits)); known += shift) r = Bits(v ^ (r >> shift));
    return r;
}

// The inverse of an odd factor modulo a power of two; each Newton step doubles the right bits. 1u: small types become
// int, which may not overflow.
template <typename Bits>
Bits inverse(Bits odd)
{
    Bits r = odd;
    for (int i = 0; i < 6; ++i) r = Bits(1u * r * (2u - 1u * odd * r));
    return r;
}

// The inverse of a mix of reference.h: the shifts and factors of its lines, the last first.
template <typename Bits>
Bits unmix(Bits v, int shift3, Bits factor2, int shift2, Bits factor1, int shift1)
{
    v = Bits(1u * unshift(v, shift3) * inverse(factor2));
    v = Bits(1u * unshift(v, shift2) * inverse(factor1));
    return unshift(v, shift1);
}

uint8_t unmix(uint8_t v) { return unmix<uint8_t>(v, 4, 0xb5, 3, 0x6d, 4); }
uint16_t unmix(uint16_t v) { return unmix<uint16_t>(v, 9, 0xdb2d, 7, 0x88b5, 8); }
uint32_t unmix(uint32_t v) { return unmix<uint32_t>(v, 16, 0x846ca68bu, 15, 0x7feb352du, 16); }
uint64_t unmix(uint64_t v) { return unmix<uint64_t>(v, 32, 0xd6e8feb86659fd93ull, 32, 0xd6e8feb86659fd93ull, 32); }

// What pattern() had before the second mixing of a secret seed.
template <typename Bits>
Bits first_mix(Bits bits, uint32_t seed)
{
    const bool second = sizeof bits >= 4 && seed >= first_secret_seed;
    return second ? Bits(unmix(bits) - second_key<Bits>(seed)) : bits;
}

// The first element with this pattern: they repeat, in another order, where all there are have been used.
template <typename Bits>
uint64_t first_of(Bits bits, uint64_t elements, uint32_t seed)
{
    constexpr int width = 8 * sizeof(Bits);
    const uint64_t rounds = width < 64 ? (elements - 1) >> (width % 64) : 0;
    for (uint64_t round = 0; round <= rounds; ++round) {
        const uint64_t begin = round << (width % 64);
        const uint64_t i =
            begin | Bits(unmix(first_mix(bits, seed)) - unmix(first_mix(pattern<Bits>(begin, seed), seed)));
        if (i < elements) return i;
    }
    return elements;
}

uint64_t first_of(uint128_t bits, uint64_t elements, uint32_t seed)
{
    const uint64_t i = first_of(uint64_t(bits), elements, seed);
    return i < elements && pattern<uint128_t>(i, seed) == bits ? i : elements;
}

uint128_t mask(Type type) { return ~uint128_t(0) >> (128 - 8 * bytes_of(type)); }

uint128_t bits_at(const Contents& contents, uint64_t o)
{
    return with_bits(contents.type, [&](auto zero) { return uint128_t(contents.at<decltype(zero)>(o)); });
}

// What lies in memory, as long as an element.
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

uint64_t origin(uint128_t bits, Type type, uint64_t elements, uint32_t seed, bool finite)
{
    const uint128_t high = finite ? with_bits(type,
                                              [&](auto zero) { return uint128_t(exponent_bit<decltype(zero)>(type)); })
                                  : 0,
                    both = high | high >> 1;
    if ((bits & both) != high >> 1) return elements;
    // Every choice of the bits that were overwritten.
    uint64_t first = elements;
    for (uint128_t choice = both;; choice = (choice - 1) & both) {
        const uint128_t whole = (bits & ~both) | choice;
        first = with_bits(type,
                          [&](auto zero) { return std::min(first, first_of(decltype(zero)(whole), elements, seed)); });
        if (choice == 0) return first;
    }
}

FindingRecord describe(Device& device, const Region& matrix, const Mismatch& mismatch)
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
    const uint64_t from = sum ? elements : origin(found, type, elements, contents.seed, contents.expected.finite);
    const bool repeats = bytes < 8 && elements >> 8 * bytes;
    if (from < elements) remark = (repeats ? "as in idata " : "idata ") + place(from, contents.width);
    if (written && found == (~expected & mask(type))) remark = "never written";
    FindingRecord wrong(
        kinds::wrong_result,
        format("%llu of %llu elements differ; first at %s of %s: expected %s (%s), found %s (%s)",
               (unsigned long long)mismatch.count, (unsigned long long)contents.elements(),
               place(o, columns).c_str(), output ? "odata" : "idata", value_text(expected, type).c_str(),
               due.c_str(), value_text(found, type).c_str(), remark.c_str()));
    wrong.memory = output ? "odata" : "idata";
    if (output && written && !sum) {
        const uint64_t i = contents.source(o), width = contents.width;
        wrong.wrong = WrongElement{o / columns, o % columns, i / width, i % width};
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
        // Patterns may repeat: what is as it should be comes from where it should.
        const bool right =
            contents.expected.operands() == 1 && (!output || contents.written(o)) && found == bits_at(contents, o);
        const uint64_t from = right ? output ? contents.source(o) : o
                                    : origin(found, contents.type, elements, contents.seed, contents.expected.finite);
        if (o % columns == 0) numbers.rows.emplace_back();
        numbers.rows.back().push_back(from < elements ? std::to_string(from) : "?");
    }
    return numbers;
}

}  // namespace harness
