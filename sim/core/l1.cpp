#include "l1.h"

#include <algorithm>
#include <utility>

namespace sim {

void L1::next_block(uint64_t share)
{
    ++filling_;
    held_ = 0;
    capacity_ = std::max<uint64_t>(share / 128, 1);
}

// The line's entry, or the empty one that it would take.
L1::Entry& L1::find(uint64_t line)
{
    const uint64_t last = entries_.size() - 1;
    uint64_t at = (line * 0x9e3779b97f4a7c15) >> 32 & last;
    while (entries_[at].filling == filling_ && entries_[at].line != line) at = (at + 1) & last;
    return entries_[at];
}

void L1::grow()
{
    std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    for (const Entry& entry : old)
        if (entry.filling == filling_) find(entry.line) = entry;
}

L1::Found L1::load(uint64_t line, unsigned sectors, uint64_t batch)
{
    Entry* entry = &find(line);
    if (entry->filling != filling_) {
        if (held_ == capacity_) {
            ++filling_;
            held_ = 0;
        }
        if (2 * ++held_ > entries_.size()) grow();
        entry = &find(line);
        *entry = {line, filling_, batch, 0};
    }
    const unsigned missing = sectors & ~entry->sectors;
    entry->sectors |= sectors;
    if (missing) entry->batch = batch;
    return {missing, entry->batch == batch};
}

}  // namespace sim
