#include "half_warps.h"

#include <algorithm>

namespace sim {

void half_warp_in_order(const Request& r, uint32_t lanes, int first, Transactions& out)
{
    const unsigned bytes = bytes_of(r.site);
    const uint64_t base = r.address[__builtin_ctz(lanes)] - (__builtin_ctz(lanes) - first) * uint64_t(bytes);
    bool in_order = bytes >= 4 && base % (16 * bytes) == 0;
    for_lanes(lanes,
              [&](int lane) { in_order = in_order && r.address[lane] == base + (lane - first) * uint64_t(bytes); });
    if (!in_order) {
        for_lanes(lanes, [&](int lane) { out.add(r.address[lane] / 32 * 32, 32); });
    } else {
        const unsigned size = std::min(16 * bytes, 128u);
        for (unsigned at = 0; at < 16 * bytes; at += size) out.add(base + at, size);
    }
}

void half_warp_by_segment(const Request& r, uint32_t lanes, Transactions& out)
{
    const unsigned bytes = bytes_of(r.site);
    const unsigned whole = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
    while (lanes) {
        uint64_t address = r.address[__builtin_ctz(lanes)] / whole * whole, low = ~0ull, high = 0;
        uint32_t left = 0;
        for_lanes(lanes, [&](int lane) {
            if (r.address[lane] / whole * whole != address) {
                left |= 1u << lane;
                return;
            }
            low = std::min(low, r.address[lane]);
            high = std::max(high, r.address[lane] + bytes - 1);
        });
        unsigned size = whole;
        while (size > 32 && low / (size / 2) == high / (size / 2)) {
            size /= 2;
            address = low / size * size;
        }
        out.add(address, size);
        lanes = left;
    }
}

int passes_with_one_broadcast(uint64_t* words, int n)
{
    int passes = 0;
    for (; n > 0; ++passes) {
        const uint64_t broadcast = words[0];
        uint32_t busy = 1u << broadcast % 16;
        int left = 0;
        for (int i = 0; i < n; ++i) {
            if (words[i] == broadcast) continue;
            const uint32_t bank = 1u << words[i] % 16;
            if (busy & bank) words[left++] = words[i];
            busy |= bank;
        }
        n = left;
    }
    return passes;
}

}  // namespace sim
