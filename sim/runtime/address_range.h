// Ranges of addresses that the simulator gives out.
//
// Memory of a device lies in a range of addresses of its own, and that of the host that devices may touch in
// another. No address is used twice, so that each tells which allocation it was of, freed or not.

#pragma once

#include <sys/mman.h>

#include <cstdint>

namespace sim {

constexpr uintptr_t gpu_page = 2 << 20;
constexpr uintptr_t gap_behind = 64 << 10;  // each allocation, so that an index just beyond its end lies in no other

inline uintptr_t rounded(uintptr_t n, uintptr_t to) { return (n + to - 1) / to * to; }

// A range of addresses with nothing behind them at first.
class AddressRange {
public:
    // Reserves at most so many bytes, and fewer if the address space has no room for them.
    AddressRange(uint64_t first_gpu_address, uint64_t most) : first_gpu_address_(first_gpu_address)
    {
        for (bytes_ = most / gpu_page * gpu_page; bytes_ >= gpu_page; bytes_ = bytes_ / 2 / gpu_page * gpu_page) {
            void* memory =
                mmap(nullptr, bytes_ + gpu_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) continue;
            begin_ = next_ = rounded(uintptr_t(memory), gpu_page);
            return;
        }
        bytes_ = 0;
    }

    uintptr_t begin() const { return begin_; }
    bool holds(uintptr_t address) const { return address - begin_ < bytes_; }
    uint64_t gpu_address(uintptr_t address) const { return address - begin_ + first_gpu_address_; }

    // 0 if there is no room.
    uintptr_t take(uint64_t bytes, uintptr_t align)
    {
        const uintptr_t begin = rounded(next_, align);
        if (bytes > bytes_ || begin + bytes + gap_behind - begin_ > bytes_) return 0;
        next_ = begin + bytes + gap_behind;
        return begin;
    }

    uint64_t room() const
    {
        const uint64_t used = rounded(next_, gpu_page) + gap_behind - begin_;
        return used < bytes_ ? bytes_ - used : 0;
    }

    // Changes the protection of the part that was taken so far.
    void protect(int protection) const
    {
        if (next_ > begin_) mprotect(reinterpret_cast<void*>(begin_), rounded(next_ - begin_, gpu_page), protection);
    }

private:
    uint64_t first_gpu_address_;
    uintptr_t begin_ = 0, next_ = 0;
    uint64_t bytes_ = 0;
};

}  // namespace sim
