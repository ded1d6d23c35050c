#include "matrices.h"

#include "error.h"

namespace harness {

// Past the guard band, rounded to what a large matrix would begin on by itself.
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
    // A pattern that no input has: seeds of inputs are small numbers.
    const Contents contents{Type::i32, copies, guard_bytes / bytes_of(Type::i32), 1, ~0u, Holds::input};
    std::vector<Region> bands{{memory_ + lead - guard_bytes, contents}};
    for (int i = 0; i < count_; ++i)
        bands.push_back({static_cast<char*>((*this)[i]) + bytes_, contents});
    return bands;
}

std::string Matrices::describe_guard(size_t number, const Mismatch& mismatch)
{
    const uint64_t word = bytes_of(Type::i32);
    return format("%llu bytes, the first %llu bytes %s of the matrix", (unsigned long long)(mismatch.count * word),
                  (unsigned long long)(number ? mismatch.first * word : guard_bytes - mismatch.first * word),
                  number ? "past the end" : "before the start");
}

}  // namespace harness
