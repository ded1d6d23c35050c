#include "matrices.h"

#include "base/error.h"

namespace harness {

// The distance of two matrices: their bytes and a guard band, rounded up to the alignment of a large matrix.
uint64_t Matrices::stride(uint64_t bytes)
{
    const uint64_t unit = bytes >= lead ? lead : 512;
    return (bytes + guard_bytes + unit - 1) / unit * unit;
}

uint64_t Matrices::footprint(uint64_t bytes, int count) { return lead + count * stride(bytes); }

Matrices::Matrices(Device& device, uint64_t bytes, int count)
    : device_(device), bytes_(bytes), stride_(stride(bytes)), count_(count),
      memory_(static_cast<char*>(device.allocate(footprint(bytes, count))))
{
}

Matrices::~Matrices() { device_.release(memory_); }

std::vector<Region> Matrices::guards() const
{
    // Byte by byte, since a matrix may end anywhere, in a pattern that no input has: seeds of inputs are small numbers.
    const Contents contents{Type::i8, copies, guard_bytes, 1, ~0u, Holds::input};
    std::vector<Region> bands{{memory_ + lead - guard_bytes, contents}};
    for (int i = 0; i < count_; ++i)
        bands.push_back({static_cast<char*>((*this)[i]) + bytes_, contents});
    return bands;
}

std::string Matrices::describe_guard(size_t number, const Mismatch& mismatch)
{
    return format("%llu bytes, the first %llu bytes %s of the matrix", (unsigned long long)mismatch.count,
                  (unsigned long long)(number ? mismatch.first : guard_bytes - mismatch.first),
                  number ? "past the end" : "before the start");
}

}  // namespace harness
