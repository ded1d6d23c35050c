// Matrices on a device, side by side in one allocation, each between guard bands that a
// kernel writing out of bounds would damage.

#pragma once

#include <string>
#include <vector>

#include "device.h"

namespace harness {

class Matrices {
public:
    // Room for `count` matrices of `bytes` each; nothing is filled yet. Throws status_bad_input
    // when the device cannot hold them.
    Matrices(Device& device, uint64_t bytes, int count);
    ~Matrices();
    Matrices(const Matrices&) = delete;

    int count() const { return count_; }
    void* operator[](int i) const { return memory_ + lead + i * stride_; }

    // The guard bands, with their contents: one in front of the first matrix, then one behind each.
    std::vector<Region> guards() const;

    // Tells what happened to the guard band of that number.
    static std::string describe_guard(size_t number, const Mismatch& mismatch);

    // The bytes that a Matrices takes from the device's memory.
    static uint64_t footprint(uint64_t bytes, int count);

private:
    // The first matrix begins on a 2 MB boundary of its allocation, as a page of the GPU's does.
    static constexpr uint64_t lead = 2 << 20;
    static constexpr uint64_t guard_bytes = 4096;
    static uint64_t stride(uint64_t bytes);

    Device& device_;
    uint64_t bytes_, stride_;
    int count_;
    char* memory_;
};

}  // namespace harness
