#include "verify.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "error.h"

namespace harness {
namespace {

// The inverse of v ^ (v >> shift).
template <typename Bits>
Bits unshift(Bits v, int shift)
{
    Bits r = v;
    for (int known = shift; known < int(8 * sizeof(Bits)); known += shift) r = v ^ (r >> shift);
    return r;
}

// The inverse of an odd factor modulo 2^32 or 2^64; each Newton step doubles the right bits.
template <typename Bits>
Bits inverse(Bits odd)
{
    Bits r = odd;
    for (int i = 0; i < 6; ++i) r *= 2 - odd * r;
    return r;
}

uint32_t unmix32(uint32_t v)
{
    v = unshift(v, 16) * inverse(0x846ca68bu);
    v = unshift(v, 15) * inverse(0x7feb352du);
    return unshift(v, 16);
}

uint64_t unmix64(uint64_t v)
{
    const uint64_t factor = inverse(0xd6e8feb86659fd93ull);
    v = unshift(v, 32) * factor;
    v = unshift(v, 32) * factor;
    return unshift(v, 32);
}

uint64_t mask(Type type) { return bytes_of(type) == 8 ? ~0ull : 0xffffffffull; }

uint64_t bits_at(const Contents& contents, uint64_t o)
{
    return bytes_of(contents.type) == 8 ? contents.at<uint64_t>(o) : contents.at<uint32_t>(o);
}

std::string value_text(uint64_t bits, Type type)
{
    const uint32_t low = uint32_t(bits);
    if (type == Type::f64) {
        double d;
        std::memcpy(&d, &bits, sizeof d);
        return format("%.17g [0x%016llx]", d, (unsigned long long)bits);
    }
    if (type == Type::i32) return format("%d [0x%08x]", int32_t(low), low);
    float f;
    std::memcpy(&f, &low, sizeof f);
    return format("%.9g [0x%08x]", f, low);
}

std::string place(uint64_t index, uint64_t columns)
{
    return format("row %llu, column %llu", (unsigned long long)(index / columns), (unsigned long long)(index % columns));
}

}  // namespace

uint64_t origin(uint64_t bits, Type type, uint64_t elements, uint32_t seed, bool finite)
{
    if (finite && type != Type::i32) {
        const uint64_t high = bytes_of(type) == 8 ? exponent_bit<uint64_t>(type) : exponent_bit<uint32_t>(type), both = high | high >> 1;
        if ((bits & both) != high >> 1) return elements;
        uint64_t first = elements;
        for (uint64_t choice : {uint64_t(0), high, high >> 1, both})
            first = std::min(first, origin((bits & ~both) | choice, type, elements, seed));
        return first;
    }
    if (bytes_of(type) == 8) {
        const uint64_t i = unmix64(bits) - unmix64(pattern<uint64_t>(0, seed));
        return i < elements ? i : elements;
    }
    // 4-byte patterns repeat once per 2^32 elements, shifted.
    for (uint64_t high = 0; high <= (elements - 1) >> 32; ++high) {
        const uint32_t offset = unmix32(pattern<uint32_t>(high << 32, seed));
        const uint64_t i = high << 32 | uint32_t(unmix32(uint32_t(bits)) - offset);
        if (i < elements) return i;
    }
    return elements;
}

std::string describe(Device& device, const Region& matrix, const Mismatch& mismatch)
{
    const Contents& contents = matrix.contents;
    const Type type = contents.type;
    const uint64_t o = mismatch.first, bytes = bytes_of(type);
    uint64_t found = 0;
    device.read(&found, static_cast<const char*>(matrix.data) + o * bytes, bytes);
    const uint64_t expected = bits_at(contents, o);
    const bool sum = contents.expected.operands() > 1, output = contents.holds != Holds::input;

    std::string due = "", remark = "no element of the input";
    const uint64_t columns = output ? contents.pitch() : contents.width;
    if (output && !contents.written(o)) {
        due = "as it was";
    } else {
        const uint64_t i = output ? contents.source(o) : o;
        due = sum && output ? format("a sum of two elements, %llu of y", (unsigned long long)i) : "idata " + place(i, contents.width);
        if (found == (~expected & mask(type))) remark = "never written";
    }
    const uint64_t elements = contents.width * contents.height;
    const uint64_t from = sum ? elements : origin(found, type, elements, contents.seed, contents.expected.finite);
    if (from < elements) remark = "idata " + place(from, contents.width);
    return format("%llu of %llu elements differ; first at %s of %s: expected %s (%s), found %s (%s)",
                  (unsigned long long)mismatch.count, (unsigned long long)contents.elements(), place(o, columns).c_str(),
                  output ? "odata" : "idata", value_text(expected, type).c_str(), due.c_str(), value_text(found, type).c_str(), remark.c_str());
}

std::string numbered(Device& device, const Region& matrix)
{
    const Contents& contents = matrix.contents;
    const uint64_t bytes = bytes_of(contents.type), elements = contents.width * contents.height;
    const uint64_t columns = contents.holds == Holds::input ? contents.width : contents.pitch();
    const int width = int(std::to_string(elements - 1).size()) + 1;
    std::vector<char> data(contents.elements() * bytes);
    device.read(data.data(), matrix.data, data.size());
    std::string text;
    for (uint64_t o = 0; o < contents.elements(); ++o) {
        uint64_t found = 0;
        std::memcpy(&found, &data[o * bytes], bytes);
        const uint64_t from = origin(found, contents.type, elements, contents.seed, contents.expected.finite);
        text += format("%*s%s", width, from < elements ? std::to_string(from).c_str() : "?", (o + 1) % columns ? "" : "\n");
    }
    return text;
}

}  // namespace harness
