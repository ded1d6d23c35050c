// The accesses that cells of memory remember: those that may still race with a later one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../lanes/access.h"

namespace sim {

// An access in one word: its time (order.h), the number of its site, the thread of the block. 0: none.
using Mark = uint64_t;
constexpr int thread_bits = 10, time_shift = 32;
constexpr Mark threads_mask = (1 << thread_bits) - 1, site_mask = (Mark(1) << 31) - 1 - threads_mask;
constexpr Mark mark_of(uint32_t time, uint32_t site, int thread)
{
    return Mark(time) << time_shift | site << thread_bits | Mark(thread);
}
// Bits of a cell that needs a closer look. `special` makes it later than any time: nothing was stored there, or there
// are several accesses.
constexpr Mark special = Mark(1) << 63, several = Mark(1) << 31;
constexpr uint32_t time_of(Mark m) { return uint32_t((m & ~special) >> time_shift); }
constexpr int thread_of(Mark m) { return int(m & threads_mask); }

class Sites {
public:
    enum : uint32_t { nobody, copy_to, copy_from };  // no sites of a kernel
    uint32_t number_of(Site site)
    {
        if (sites_[last_] != site) last_ = find(site);
        return uint32_t(last_);
    }
    Site of(Mark m) const { return sites_[(m & site_mask) >> thread_bits]; }

private:
    size_t find(Site site);
    std::vector<Site> sites_{0, site_of(0, store, 2), site_of(0, load, 2)};
    std::unordered_map<Site, size_t> numbers_;
    size_t last_ = 0;
};

// The accesses to each cell of some memory that may still race with another.
class MemoryCells {
public:
    static constexpr int most = 7;  // of a cell
    struct List {
        Mark mark[most];
        int count;
        uint32_t stored;  // when somebody stored there last; 0: never
        uint32_t loads;   // the phase in which all of them are plain loads; 0: some are not
    };
    // True if nothing has been stored to a cell since a time.
    bool unset(size_t index, uint32_t since) const
    {
        const Mark m = last[index];
        return (m & several ? lists[index].stored : m & special ? 0 : time_of(m)) < since;
    }
    void put(size_t index, const List& list, bool unset);
    void divide(size_t parts, size_t cells);  // divides each cell into `parts`; afterwards there are `cells`

    std::vector<Mark> last;    // the only access of a cell, unless there are several
    std::vector<List> lists;   // empty as long as no cell has several
};

}  // namespace sim
