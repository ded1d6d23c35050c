#include "caches.h"

#include <algorithm>

#include "transactions.h"

namespace sim {

void Caches::start_block(uint64_t l1_share, unsigned warps)
{
    l1_.next_block(l1_share, warps);
    phase_begin_ = phase_end_ = 0;
}

void Caches::warp_begins()
{
    in_flight_ = false;
    batch_ = 0;
    time_ = phase_begin_;
}

void Caches::take(const PartOfRequest& part, const Cost& cost)
{
    if (part.space == constant) counts.constant_words += uint64_t(cost.units);
    if (part.space != global) return;
    note_batch(part.request);
    if (kind_of(part.request.site) == sim::load) load(*cost.transactions, part.shift);
    else store(*cost.transactions, part.shift, cost.asked);
}

// Notes batches of loads: the loads of a warp up to its next store are in flight together.
void Caches::note_batch(const Request& request)
{
    const bool loads = kind_of(request.site) == sim::load;
    if (loads && !in_flight_) {
        ++counts.hit_batches;
        ++batch_;
        missed_ = false;
    }
    in_flight_ = loads;
    l1_.request();
    phase_end_ = std::max(phase_end_, ++time_);
}

// The transactions are sectors, in the order of their addresses. Sectors at the same place of their lines take turns in
// the L1. A load of sectors that are still on their way takes its turns again when they have come.
void Caches::load(const Transactions& transactions, uint64_t shift)
{
    unsigned turns[4] = {};
    bool on_its_way = false;
    for (int i = 0; i < transactions.count;) {
        const uint64_t line = (transactions.list[i].address + shift) / 128;
        unsigned sectors = 0;
        for (; i < transactions.count && (transactions.list[i].address + shift) / 128 == line; ++i) {
            const unsigned place = (transactions.list[i].address + shift) / 32 % 4;
            sectors |= 1u << place;
            ++turns[place];
        }
        const L1::Found found = l1_.load(line, sectors, time_, phase_ << 32 | batch_);
        if (found.missing) {
            touched_.load(line, found.missing);
            ++counts.missed_lines;
        }
        on_its_way |= found.on_its_way;
    }
    counts.l1_turns += (on_its_way ? 2 : 1) * *std::max_element(turns, turns + 4);
    if (on_its_way && !missed_) {
        ++counts.load_batches;
        --counts.hit_batches;
        missed_ = true;
    }
}

// Lines that a store fills pass through the L2 as fast as they come. Lines that it fills in part are merged there.
void Caches::store(const Transactions& transactions, uint64_t shift, uint64_t asked)
{
    // The mean is rounded up, so that a page whose sectors are all filled counts as filled.
    const unsigned of_a_sector = unsigned((asked + unsigned(transactions.count) - 1) / unsigned(transactions.count));
    uint64_t lines = 0, last = ~0ull;
    for (int i = 0; i < transactions.count; ++i) {
        const uint64_t sector = (transactions.list[i].address + shift) / 32;
        touched_.store(sector, of_a_sector);
        lines += sector / 4 != last;
        last = sector / 4;
    }
    if (asked < 32 * lines) counts.partial_lines += lines;
}

}  // namespace sim
