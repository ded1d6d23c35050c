#include "rules.h"

#include <algorithm>

namespace sim {
namespace {

// Calls visit(lane) for each lane of the mask, lowest first.
template <typename Visit>
void for_lanes(uint32_t lanes, Visit visit)
{
    for (; lanes; lanes &= lanes - 1) visit(__builtin_ctz(lanes));
}

// Whether a full warp accesses 32 neighbours in order.
bool contiguous(const Request& r, unsigned bytes)
{
    if (r.lanes != ~0u) return false;
    uint64_t differ = 0;
    for (int lane = 0; lane < warp_size; ++lane) differ |= r.address[lane] ^ (r.address[0] + lane * uint64_t(bytes));
    return differ == 0;
}

// Every aligned piece of this size that a lane touches, once. Lanes do not straddle pieces.
void pieces(const Request& r, uint32_t lanes, unsigned size, Transactions& out)
{
    uint64_t seen[warp_size];
    int n = 0;
    bool ascending = true;
    for_lanes(lanes, [&](int lane) {
        const uint64_t piece = r.address[lane] / size;
        if (n && piece == seen[n - 1]) return;
        ascending = ascending && (n == 0 || piece > seen[n - 1]);
        seen[n++] = piece;
    });
    if (!ascending) {
        std::sort(seen, seen + n);
        n = int(std::unique(seen, seen + n) - seen);
    }
    for (int i = 0; i < n; ++i) out.add(seen[i] * size, size);
}

// Atomic operations on one address take turns: of the lanes that share it, one at a time.
void in_turns(const Request& r, unsigned size, Transactions& out)
{
    for (uint32_t left = r.lanes, now; left; left &= ~now) {
        now = 0;
        for_lanes(left, [&](int lane) {
            bool first = true;
            for_lanes(now, [&](int other) { first = first && r.address[other] != r.address[lane]; });
            if (first) now |= 1u << lane;
        });
        pieces(r, now, size, out);
    }
}

// 1.0 and 1.1, half a warp: the k-th lane must access the k-th word of an aligned segment of 16
// words (4, 8 or 16 bytes; the last as two transactions); otherwise each lane pays 32 bytes.
void half_warp_in_order(const Request& r, uint32_t lanes, int first, Transactions& out)
{
    const unsigned bytes = bytes_of(r.site);
    const uint64_t base = r.address[__builtin_ctz(lanes)] - (__builtin_ctz(lanes) - first) * uint64_t(bytes);
    bool in_order = bytes >= 4 && base % (16 * bytes) == 0;
    for_lanes(lanes, [&](int lane) { in_order = in_order && r.address[lane] == base + (lane - first) * uint64_t(bytes); });
    if (!in_order) {
        for_lanes(lanes, [&](int lane) { out.add(r.address[lane] / 32 * 32, 32); });
    } else {
        const unsigned size = std::min(16 * bytes, 128u);
        for (unsigned at = 0; at < 16 * bytes; at += size) out.add(base + at, size);
    }
}

// 1.2 and 1.3, half a warp: the segment of the lowest lane left serves all lanes in it, and
// shrinks to the half that is used.
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

// Atomic operations in shared memory take turns in each of 32 banks, those on one word, too. For words of more
// than 4 bytes, the parts of a warp have turns of their own.
int turns_in_banks(const Request& r, int together)
{
    int turns = 0;
    for (int first = 0; first < warp_size; first += together) {
        int in_bank[32] = {}, most = 0;
        for_lanes(r.lanes & uint32_t((uint64_t(1) << together) - 1) << first,
                  [&](int lane) { most = std::max(most, ++in_bank[r.address[lane] / 4 % 32]); });
        turns += most;
    }
    return turns;
}

// 1.x, 16 banks: each pass serves everyone who wants one word, the first left, and one access
// to each of the other banks.
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

// Whether no two of the words that these lanes ask for lie in the same of 32 banks.
bool fits_one_wavefront(const Request& r, uint32_t lanes, unsigned bytes)
{
    uint64_t in_bank[32];
    uint32_t busy = 0;
    for (; lanes; lanes &= lanes - 1)
        for (unsigned at = 0; at < bytes; at += 4) {
            const uint64_t word = (r.address[__builtin_ctz(lanes)] + at) / 4;
            if (busy >> word % 32 & 1 && in_bank[word % 32] != word) return false;
            busy |= 1u << word % 32;
            in_bank[word % 32] = word;
        }
    return true;
}

}  // namespace

Rules::Rules(const harness::Machine& machine) : major_(machine.major), minor_(machine.minor) {}

void Rules::global(const Request& r, Transactions& out) const
{
    out.count = 0;
    out.bytes = 0;
    const unsigned bytes = bytes_of(r.site);
    if (major_ == 1) {
        for (int first : {0, 16}) {
            const uint32_t half = r.lanes & 0xffffu << first;
            if (!half) continue;
            if (minor_ <= 1) half_warp_in_order(r, half, first, out);
            else half_warp_by_segment(r, half, out);
        }
    } else if (major_ == 2 && kind_of(r.site) == load) {
        // Cached in L1, whole lines; 8-byte words half a warp at a time, 16-byte a quarter.
        const int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
        for (int first = 0; first < warp_size; first += lanes)
            pieces(r, r.lanes & uint32_t((uint64_t(1) << lanes) - 1) << first, 128, out);
    } else if (contiguous(r, bytes)) {
        for (uint64_t sector = r.address[0] / 32; sector <= (r.address[0] + warp_size * bytes - 1) / 32; ++sector)
            out.add(sector * 32, 32);
    } else if (major_ >= 5 && kind_of(r.site) == atomic) {
        in_turns(r, 32, out);  // as on an H200 (tests/data/h200_kinds.csv)
    } else {
        pieces(r, r.lanes, 32, out);
    }
}

// As on an H100 and an H200 (tests/data/h100_random_counts.csv, h200_kinds.csv).
bool Rules::take_turns(const Request& r) const { return major_ >= 5 && kind_of(r.site) == atomic; }

int Rules::part(unsigned bytes) const
{
    if (major_ == 1) return 16;
    return bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
}

int Rules::shared(const Request& r) const
{
    if (take_turns(r)) return turns_in_banks(r, part(bytes_of(r.site)));
    const unsigned bytes = bytes_of(r.site);
    const int together = part(bytes);
    if (bytes == 4 && major_ >= 5 && r.lanes == ~0u) {
        // Words a fixed stride apart, the usual case: as many share a bank as the stride and
        // the number of banks have factors in common.
        const uint64_t stride = r.address[1] - r.address[0];
        uint64_t differ = stride % 4;
        for (int lane = 2; lane < warp_size; ++lane) differ |= (r.address[lane] - r.address[lane - 1]) ^ stride;
        if (!differ) {
            const uint64_t words = (stride / 4) % 32;
            if (stride == 0) return 1;
            return words == 0 ? 32 : 1 << std::min(5, __builtin_ctzll(words));
        }
    }

    int wavefronts = 0;
    for (int first = 0; first < warp_size; first += together) {
        const uint32_t lanes = r.lanes & uint32_t((uint64_t(1) << together) - 1) << first;
        if (!lanes) continue;
        // Loads of two parts of the warp that leave each other room come together, as they do on an
        // H200 (tests/data/h200_wavefronts.csv). Stores do not.
        const bool first_of_two = together < warp_size && first / together % 2 == 0;
        const uint32_t next = first_of_two ? r.lanes & uint32_t((uint64_t(1) << together) - 1) << (first + together) : 0;
        if (major_ >= 5 && next && kind_of(r.site) == load && fits_one_wavefront(r, lanes | next, bytes)) {
            wavefronts += 1;
            first += together;
            continue;
        }
        // The distinct words asked for; a word serves every lane that wants it.
        uint64_t words[warp_size * 4];
        int n = 0;
        for_lanes(lanes, [&](int lane) {
            for (unsigned at = 0; at < std::max(bytes, 4u); at += 4) words[n++] = (r.address[lane] + at) / 4;
        });
        if (major_ == 1) {
            wavefronts += passes_with_one_broadcast(words, n);
            continue;
        }
        if (major_ == 3)  // banks 8 bytes wide: words i and i + 32 of 64 come together
            for (int i = 0; i < n; ++i) words[i] = words[i] / 64 * 32 + words[i] % 32;
        std::sort(words, words + n);
        n = int(std::unique(words, words + n) - words);
        int in_bank[32] = {}, most = 0;
        for (int i = 0; i < n; ++i) most = std::max(most, ++in_bank[words[i] % 32]);
        wavefronts += most;
    }
    return wavefronts;
}

Conflict Rules::conflict(const Request& r) const
{
    const unsigned bytes = bytes_of(r.site);
    const int together = part(bytes);
    const auto word = [&](int lane) { return r.address[lane] / 4; };
    const auto first_of_two = [&](int size, auto meet) {
        for (int a = 0; a < warp_size; ++a)
            for (int b = a + 1; b < warp_size && b / size == a / size; ++b)
                if (r.lanes >> a & r.lanes >> b & 1 && meet(a, b))
                    return Conflict{{a, b}, {word(a), word(b)}, unsigned(word(a) % banks())};
        return Conflict{};
    };
    // Elements are aligned: all of their words meet if the first do. On 3.x, words i and i + 32 of
    // 64 come together.
    const unsigned row = major_ == 3 ? 64 : banks();
    const bool turns = take_turns(r);
    const auto differ = [&](int a, int b) {
        return word(a) % banks() == word(b) % banks() && (turns || word(a) / row != word(b) / row);
    };
    const Conflict inside = first_of_two(together, differ);
    if (inside.lanes[0] >= 0) return inside;
    if (major_ == 1)  // only one word at a time goes to several lanes, first the lowest lane's
        return first_of_two(together, [&](int a, int b) {
            return word(a) == word(b) && (bytes > 4 || word(a) != word(__builtin_ctz(r.lanes & 0xffffu << a / 16 * 16)));
        });
    if (major_ >= 5 && kind_of(r.site) == load && together < warp_size)  // two parts that banks could serve at once
        return first_of_two(2 * together, [&](int a, int b) {
            const uint32_t both = uint32_t((uint64_t(1) << 2 * together) - 1) << a / (2 * together) * (2 * together);
            return differ(a, b) && asked_bytes({r.site, r.lanes & both, r.address}) <= 128;
        });
    return {};
}

uint64_t Rules::asked_bytes(const Request& r) const
{
    const unsigned bytes = bytes_of(r.site);
    // The usual case: a full warp, and every lane the same distance from the last.
    const uint64_t stride = r.address[1] - r.address[0];
    uint64_t differ = r.lanes ^ ~0u;
    if (!differ)
        for (int lane = 2; lane < warp_size; ++lane) differ |= (r.address[lane] - r.address[lane - 1]) ^ stride;
    if (!differ) return stride ? warp_size * bytes : bytes;
    uint64_t addresses[warp_size];
    int n = 0;
    for_lanes(r.lanes, [&](int lane) { addresses[n++] = r.address[lane]; });
    std::sort(addresses, addresses + n);
    return (std::unique(addresses, addresses + n) - addresses) * uint64_t(bytes);
}

int Rules::ideal_shared(const Request& r) const
{
    const unsigned bytes = bytes_of(r.site);
    if (major_ >= 5 && kind_of(r.site) == load) return std::max(1, int(__builtin_popcount(r.lanes) * bytes + 127) / 128);
    const int together = part(bytes);
    int parts = 0;
    for (int first = 0; first < warp_size; first += together)
        parts += (r.lanes & uint32_t((uint64_t(1) << together) - 1) << first) != 0;
    return parts;
}

const char* Rules::unit(Kind kind) const { return major_ == 1 ? "transactions" : major_ == 2 && kind == load ? "lines" : "sectors"; }

uint64_t Rules::ideal_global(const Request& r, uint64_t asked) const
{
    // Each half of a warp has transactions of its own, of up to 128 bytes.
    if (major_ == 1) return std::max<uint64_t>((asked + 127) / 128, ((r.lanes & 0xffff) != 0) + (r.lanes >> 16 != 0));
    const unsigned unit = major_ == 2 && kind_of(r.site) == load ? 128 : 32;
    return (asked + unit - 1) / unit;
}

}  // namespace sim
