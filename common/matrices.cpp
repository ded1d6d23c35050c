#include "matrices.h"

#include <algorithm>

#include "error.h"

namespace harness {

constexpr unsigned char guard_byte = 0xa5;

// Past the largest guard, rounded to what a large matrix would begin on by itself.
uint64_t Matrices::stride(uint64_t bytes)
{
    const uint64_t unit = bytes >= lead ? lead : 512;
    return (bytes + guard + unit - 1) / unit * unit;
}

uint64_t Matrices::footprint(uint64_t bytes, int count) { return lead + count * stride(bytes); }

Matrices::Matrices(Device& device, uint64_t bytes, int count)
    : device_(device), bytes_(bytes), stride_(stride(bytes)), count_(count),
      memory_(static_cast<char*>(device.allocate(footprint(bytes, count))))
{
    set_guards();
}

void Matrices::set_guards()
{
    const std::string band(guard, char(guard_byte));
    device_.write(memory_ + lead - guard, band.data(), guard);
    for (int i = 0; i < count_; ++i)
        device_.write(static_cast<char*>((*this)[i]) + bytes_, band.data(), guard);
}

Matrices::~Matrices() { device_.release(memory_); }

std::string Matrices::damage()
{
    std::string band(guard, '\0');
    const auto damaged = [](char c) { return (unsigned char)c != guard_byte; };
    device_.read(&band[0], memory_ + lead - guard, guard);
    if (const auto n = std::count_if(band.begin(), band.end(), damaged))
        return format("%ld bytes in front of the matrix", long(n));
    for (int i = 0; i < count_; ++i) {
        device_.read(&band[0], static_cast<char*>((*this)[i]) + bytes_, guard);
        if (const auto n = std::count_if(band.begin(), band.end(), damaged))
            return format("%ld bytes behind the matrix", long(n));
    }
    return "";
}

}  // namespace harness
