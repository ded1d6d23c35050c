// Is it a race? In: two accesses to one cell, one of them a store, that nothing obvious orders. Out: findings, named
// by their places.
//
// Accesses that are made to meet, as atomic ones are, are no race. Nor are ordered ones (order.h), nor stores of the
// same value by one statement. A plain load of a word that others change atomically is doubtful: if the thread then
// compares and swaps, it did no harm, so it is decided at the end of the block. Hazards are kept until the warp has
// stopped, because only then is it known which place comes first in the program. The same pair of places is counted
// and not repeated.
//
// The cost is linear in the different pairs of a warp, which are few.

#include "hazards.h"

#include <algorithm>

#include "../elf/places.h"

namespace sim {
namespace {

// Accesses that are made for being seen by others at any time. Of volatile ones, only those of different
// warps are: inside a warp, `volatile` is what older code had instead of __syncwarp().
bool made_to_meet(const Clash& c)
{
    const Strength strength = strength_of(c.site), other = c.other_strength;
    if (strength == as_data || other == as_data) return false;
    return strength == as_atomic || other == as_atomic || c.at.block != c.other.block ||
           c.at.thread / warp_size != c.other.thread / warp_size;
}

// Who loads, and may compare later what it has loaded with what is there; or null.
const Moment* reader_of(const Clash& c)
{
    if (kind_of(c.site) == load && strength_of(c.site) == as_data && c.other_strength == as_atomic) return &c.at;
    if (kind_of(c.other_site) == load && c.other_strength == as_data && strength_of(c.site) == as_atomic)
        return &c.other;
    return nullptr;
}

// One statement has stored the same value for both: it does not matter who is last. All lanes of the warp have come to
// their end, so that the memory holds what the last of them has stored, and `before` stands for what the other one had.
bool store_the_same(const Clash& c)
{
    // The lower halves alone are compared, as the size and the strength of the other access are not in its site.
    const bool same_statement = same_place(uint32_t(c.site), uint32_t(c.other_site));
    return kind_of(c.site) == store && kind_of(c.other_site) == store && same_statement &&
           c.before == fingerprint(c.access, bytes_of(c.site));
}

}  // namespace

bool Sequence::precedes(Site other, Site site, int order) const
{
    const auto same = [&](Site s) {
        return s == other || place_number(return_address(s)) == place_number(return_address(other));
    };
    for (int i = std::min(order, int(sites_.size())) - 1; i >= 0; --i)
        if (same(sites_[i])) return true;
    for (size_t i = size_t(order) + 1; i < sites_.size(); ++i)
        if (same(sites_[i])) return false;
    // This warp does not come there at all: as it stands in the source.
    return before(return_address(other), return_address(site));
}

void Hazards::look(const Clash& c)
{
    if (made_to_meet(c) || order_.ordered(c.other, c.at) || store_the_same(c)) return;
    if (const Moment* reader = reader_of(c)) {
        if (order_.confirmed(reader->block, reader->thread, c.address)) return;
        uint64_t key = c.address;
        for (uint64_t part : {c.site, c.other_site, reader->block, uint64_t(reader->thread)})
            key = (key ^ part) * 0x9e3779b97f4a7c15u;
        const auto known = doubtful_by_key_.emplace(key, doubtful_.size());
        if (known.second) doubtful_.push_back({c, 1, {}});
        else ++doubtful_[known.first->second].count;
        return;
    }
    for (Hazard& h : hazards_)
        if (same_place(h.clash.site, c.site) && same_place(h.clash.other_site, c.other_site) &&
            (h.clash.other.block == h.clash.at.block) == (c.other.block == c.at.block)) {
            ++h.count;
            return;
        }
    hazards_.push_back({c, 1});
}

Finding Hazards::named(const Clash& c, uint64_t count, const Sequence& sequence) const
{
    // Blocks run in any order: of two, the store is named first, as whoever made it may do.
    const bool stores = kind_of(c.site) != load, other_stores = kind_of(c.other_site) != load;
    const bool other_first =
        c.at.block == c.other.block ? sequence.precedes(c.other_site, c.site, c.order) : other_stores;
    const bool first_stores = other_first ? other_stores : stores, second_stores = other_first ? stores : other_stores;
    const Fault fault = !first_stores   ? Fault::write_after_read
                        : second_stores ? Fault::write_after_write
                                        : Fault::read_after_write;
    const uint64_t before = order_.first_block() + 1;
    Finding finding{fault,          c.site,
                    c.other_site,   c.at.thread,
                    c.other.thread, c.at.block - before,
                    *c.memory,      c.offset,
                    count,          c.other.block - before,
                    global_,        ""};
    if (other_first) {
        std::swap(finding.first, finding.second);
        std::swap(finding.thread, finding.other_thread);
        std::swap(finding.block, finding.other_block);
    }
    return finding;
}

void Hazards::warp_done(const Sequence& sequence, Findings& findings)
{
    for (const Hazard& h : hazards_) findings.add(named(h.clash, h.count, sequence));
    hazards_.clear();
    for (; named_ < doubtful_.size(); ++named_) doubtful_[named_].finding = named(doubtful_[named_].clash, 1, sequence);
}

void Hazards::block_done(Findings& findings)
{
    for (Doubtful& d : doubtful_) {
        const Moment& reader = *reader_of(d.clash);
        if (order_.confirmed(reader.block, reader.thread, d.clash.address)) continue;
        d.finding.count = d.count;
        findings.add(d.finding);
    }
    doubtful_.clear();
    doubtful_by_key_.clear();
    named_ = 0;
}

}  // namespace sim
