#include "l1.h"

#include <algorithm>
#include <utility>

namespace sim {

void L1::next_block(uint64_t share, unsigned warps)
{
    ++block_;
    held_ = requests_ = missed_ = 0;
    warps_ = warps;
    capacity_ = std::max<uint64_t>(share / 128, 1);
}

// The line's entry, or the empty one that it would take.
L1::Entry& L1::find(uint64_t line)
{
    const uint64_t last = entries_.size() - 1;
    uint64_t at = (line * 0x9e3779b97f4a7c15) >> 32 & last;
    while (entries_[at].block == block_ && entries_[at].line != line) at = (at + 1) & last;
    return entries_[at];
}

void L1::grow()
{
    std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    for (const Entry& entry : old)
        if (entry.block == block_) find(entry.line) = entry;
}

// True if the line has left the L1: all warps together have missed passed * warps_ * missed_ / requests_ lines
// meanwhile.
bool L1::gone(uint64_t passed) const { return passed * warps_ * missed_ > capacity_ * requests_; }

L1::Found L1::load(uint64_t line, unsigned sectors, uint64_t time, uint64_t batch)
{
    Entry* entry = &find(line);
    if (entry->block != block_) {
        if (2 * ++held_ > entries_.size()) {
            grow();
            entry = &find(line);
        }
        *entry = {line, block_, batch, time, 0};
    } else if (gone(time > entry->time ? time - entry->time : entry->time - time)) {
        entry->sectors = 0;
    }
    const unsigned missing = sectors & ~entry->sectors;
    entry->sectors |= sectors;
    entry->time = time;
    if (missing) {
        entry->batch = batch;
        ++missed_;
    }
    return {missing, entry->batch == batch};
}

}  // namespace sim
