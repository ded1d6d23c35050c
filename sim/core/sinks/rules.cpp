// The rules of NVIDIA's guides, by compute capability. In: the addresses of one request. Out: its transactions, or
// its wavefronts, or two lanes that meet in a bank.
//
// Global memory: the lanes' addresses are divided by the size of a piece (a segment, a line or a sector), and each
// piece that some lane touches is moved once. Shared memory: lanes are served in parts of a warp, as wide accesses
// need. In each part, every bank delivers one word at a time, so the cost is the largest number of different words
// that one bank has to deliver. Cards of 1.x serve half a warp at a time, and differ in how.
//
// Most requests are evenly spaced. For these the answer follows from the stride, without a look at the single lanes.
// tests/sim/rules.cpp compares the rules with a second description of them, on random requests.

#include "rules.h"

#include <algorithm>

#include "half_warps.h"

namespace sim {
namespace {

// True if a full warp accesses 32 neighbours in order.
bool contiguous(const Request& r, unsigned bytes)
{
    uint64_t stride;
    return r.evenly_spaced(stride) && stride == bytes;
}

// The active ones of `count` lanes from `first` on.
uint32_t lanes_from(const Request& r, int first, int count)
{
    return r.lanes & uint32_t((uint64_t(1) << count) - 1) << first;
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

// Atomic operations on one address take turns: one lane at a time of those that share it.
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

// Atomic operations in shared memory take turns in each of 32 banks, those on one word, too. For words of more
// than 4 bytes, the parts of a warp have turns of their own.
int turns_in_banks(const Request& r, int together)
{
    int turns = 0;
    for (int first = 0; first < warp_size; first += together) {
        int in_bank[32] = {}, most = 0;
        for_lanes(lanes_from(r, first, together),
                  [&](int lane) { most = std::max(most, ++in_bank[r.address[lane] / 4 % 32]); });
        turns += most;
    }
    return turns;
}

// The most words that one of 32 banks has to deliver to these lanes. A word serves every lane that wants
// it. Elements are aligned, so that the first word of each tells about the others.
int most_in_a_bank(const Request& r, uint32_t lanes, bool wide_banks)
{
    uint64_t in_bank[32][warp_size];
    int count[32] = {}, most = 0;
    for_lanes(lanes, [&](int lane) {
        uint64_t word = r.address[lane] / 4;
        if (wide_banks) word = word / 64 * 32 + word % 32;  // of 8 bytes: words i and i + 32 of 64 come together
        const int bank = word % 32;
        for (int i = 0; i < count[bank]; ++i)
            if (in_bank[bank][i] == word) return;
        in_bank[bank][count[bank]++] = word;
        most = std::max(most, count[bank]);
    });
    return most;
}

bool same_element(const Request& r)
{
    const uint64_t address = r.address[__builtin_ctz(r.lanes)];
    for (uint32_t left = r.lanes; left; left &= left - 1)
        if (r.address[__builtin_ctz(left)] != address) return false;
    return true;
}

// True if every two of these lanes with numbers l and l ^ apart (1 or 2) access the same element.
bool same_in_pairs(const Request& r, uint32_t lanes, int apart)
{
    for (uint32_t left = lanes & lanes >> apart & (apart == 1 ? 0x55555555u : 0x33333333u); left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (r.address[lane] != r.address[lane + apart]) return false;
    }
    return true;
}

// Lanes whose partner l ^ apart is idle.
uint32_t without_partner(uint32_t lanes, int apart)
{
    const uint32_t lower = apart == 1 ? 0x55555555u : 0x33333333u;
    return lanes & ~((lanes & lower) << apart | (lanes >> apart & lower));
}

}  // namespace

Rules::Rules(const harness::Machine& machine)
    : major_(machine.major),
      minor_(machine.minor),
      load_bytes_(machine.load_bytes),
      store_bytes_(machine.store_bytes),
      banks_(machine.banks),
      bank_bytes_(machine.bank_bytes)
{}

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
    } else if (kind_of(r.site) == load && load_bytes_ == 128) {
        // 2.x: cached in L1, whole lines; 8-byte words half a warp at a time, 16-byte a quarter.
        const int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
        for (int first = 0; first < warp_size; first += lanes)
            pieces(r, lanes_from(r, first, lanes), 128, out);
    } else if (contiguous(r, bytes)) {
        for (uint64_t sector = r.address[0] / 32; sector <= (r.address[0] + warp_size * bytes - 1) / 32; ++sector)
            out.add(sector * 32, 32);
    } else if (major_ >= 5 && kind_of(r.site) == atomic) {
        in_turns(r, 32, out);  // as on an H200 (tests/data/h200_kinds.csv)
    } else {
        pieces(r, r.lanes, 32, out);
    }
}

// True if all lanes take turns, as on an H100 and an H200 (tests/data/h100_random_counts.csv, h200_kinds.csv).
bool Rules::take_turns(const Request& r) const { return major_ >= 5 && kind_of(r.site) == atomic; }

int Rules::part(unsigned bytes) const
{
    if (major_ == 1) return 16;
    return bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
}

// Two parts of a warp may share a wavefront, as measured on an H100 (tests/data/h100_wavefronts.csv):
//   - Stores never share one.
//   - Loads share one if either every lane l reads the same element as lane l ^ 1, or every lane as lane l ^ 2.
//     An idle lane agrees with any other.
//   - The first half of a warp that reads 16 bytes per lane differs. If lane 31 is idle, its two parts may share
//     a wavefront whatever they read. If lane 31 is active, an idle lane agrees with idle lanes only.
//     The cause is not known.
// The banks have to allow it, too. The caller checks that.
uint32_t Rules::may_share(const Request& r, int first) const
{
    const unsigned bytes = bytes_of(r.site);
    const int together = part(bytes);
    if (major_ < 5 || kind_of(r.site) != load || together == warp_size || first % (2 * together)) return 0;
    const uint32_t both = lanes_from(r, first, 2 * together);
    if (!lanes_from(r, first, together) || !lanes_from(r, first + together, together)) return 0;
    const bool first_of_16 = bytes == 16 && first == 0;
    if (first_of_16 && !(r.lanes >> 31)) return both;
    for (int apart : {1, 2})
        if (same_in_pairs(r, both, apart) && !(first_of_16 && without_partner(both, apart))) return both;
    return 0;
}

// True if the banks could serve the parts that may share a wavefront, if their words lay elsewhere.
bool Rules::could_share(const Request& r, int first) const
{
    const uint32_t both = may_share(r, first);
    return both && asked_bytes({r.site, both, r.address}) <= 128;
}

// One element of 16 bytes for all lanes: a wavefront delivers it to 16 of them, wherever they are in the warp.
bool Rules::one_for_all(const Request& r) const
{
    return major_ >= 5 && kind_of(r.site) == load && bytes_of(r.site) == 16 && same_element(r);
}

int Rules::shared(const Request& r) const
{
    if (take_turns(r)) return turns_in_banks(r, part(bytes_of(r.site)));
    const unsigned bytes = bytes_of(r.site);
    const int together = part(bytes);
    uint64_t stride;
    if (bytes >= 4 && major_ >= 5 && r.evenly_spaced(stride) && stride % bytes == 0) {
        // Elements a fixed stride apart, the usual case: as many share a bank as the stride and the
        // number of elements in a row of banks have factors in common. Neighbouring lanes access
        // different elements, so that parts of the warp do not share wavefronts.
        if (stride == 0) return kind_of(r.site) != load ? warp_size / together : bytes == 16 ? 2 : 1;
        const uint64_t elements = (stride / bytes) % together;
        return warp_size / together * (elements == 0 ? together : 1 << __builtin_ctzll(elements));
    }
    if (one_for_all(r)) return (__builtin_popcount(r.lanes) + 15) / 16;

    int wavefronts = 0;
    for (int first = 0; first < warp_size; first += together) {
        const uint32_t lanes = lanes_from(r, first, together);
        if (!lanes) continue;
        const uint32_t both = may_share(r, first);
        if (both && most_in_a_bank(r, both, false) == 1) {
            wavefronts += 1;
            first += together;
        } else if (major_ == 1) {
            uint64_t words[warp_size * 4];
            int n = 0;
            for_lanes(lanes, [&](int lane) {
                for (unsigned at = 0; at < std::max(bytes, 4u); at += 4) words[n++] = (r.address[lane] + at) / 4;
            });
            wavefronts += passes_with_one_broadcast(words, n);
        } else {
            wavefronts += most_in_a_bank(r, lanes, bank_bytes_ == 8);
        }
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
                    return Conflict{{a, b}, {word(a), word(b)}, unsigned(word(a) % banks_)};
        return Conflict{};
    };
    // Elements are aligned, so all of their words meet if the first ones do. On 3.x, words i and i + 32 of 64 come
    // together.
    const unsigned row = banks_ * bank_bytes_ / 4;
    const bool turns = take_turns(r);
    const auto differ = [&](int a, int b) {
        return word(a) % banks_ == word(b) % banks_ && (turns || word(a) / row != word(b) / row);
    };
    const Conflict inside = first_of_two(together, differ);
    if (inside.lanes[0] >= 0) return inside;
    if (major_ == 1)  // only one word at a time goes to several lanes, first the lowest lane's
        return first_of_two(together, [&](int a, int b) {
            return word(a) == word(b) &&
                   (bytes > 4 || word(a) != word(__builtin_ctz(r.lanes & 0xffffu << a / 16 * 16)));
        });
    uint32_t sharing = 0;  // lanes of parts that could share a wavefront
    for (int first = 0; first < warp_size; first += 2 * together)
        if (could_share(r, first)) sharing |= lanes_from(r, first, 2 * together);
    if (!sharing) return {};
    return first_of_two(2 * together, [&](int a, int b) { return sharing >> a & 1 && differ(a, b); });
}

uint64_t Rules::asked_bytes(const Request& r) const
{
    const unsigned bytes = bytes_of(r.site);
    uint64_t stride;
    if (r.evenly_spaced(stride)) return stride ? warp_size * bytes : bytes;
    uint64_t addresses[warp_size];
    int n = 0;
    for_lanes(r.lanes, [&](int lane) { addresses[n++] = r.address[lane]; });
    std::sort(addresses, addresses + n);
    return (std::unique(addresses, addresses + n) - addresses) * uint64_t(bytes);
}

int Rules::ideal_shared(const Request& r) const
{
    const int together = part(bytes_of(r.site));
    if (together == warp_size) return 1;
    if (one_for_all(r)) return shared(r);
    int wavefronts = 0;
    for (int first = 0; first < warp_size; first += together) {
        wavefronts += lanes_from(r, first, together) != 0;
        if (could_share(r, first)) first += together;
    }
    return wavefronts;
}

const char* Rules::unit(Kind kind) const
{
    return major_ == 1 ? "transactions" : piece_of(kind) == 128 ? "lines" : "sectors";
}

uint64_t Rules::ideal_global(const Request& r, uint64_t asked) const
{
    // Each half of a warp has transactions of its own, of up to 128 bytes.
    if (major_ == 1) return std::max<uint64_t>((asked + 127) / 128, ((r.lanes & 0xffff) != 0) + (r.lanes >> 16 != 0));
    const unsigned unit = piece_of(kind_of(r.site));
    return (asked + unit - 1) / unit;
}

}  // namespace sim
