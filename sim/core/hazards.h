// Hazards: two accesses of different threads to one place, at least one of them a store, with nothing between them that
// orders them. These classes remember accesses, tell hazards from pairs that only look like one, count them, and make
// findings of them.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "findings.h"
#include "order.h"
#include "splitter.h"

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
    // Places of atomic operations whose results nothing reads.
    void note_unread(uint32_t place) { unread_.insert(place); }
    bool unread(Site site) const { return !unread_.empty() && unread_.count(uint32_t(site)); }

private:
    size_t find(Site site);
    std::vector<Site> sites_{0, site_of(0, store, 2), site_of(0, load, 2)};
    std::unordered_map<Site, size_t> numbers_;
    std::unordered_set<uint32_t> unread_;
    size_t last_ = 0;
};

// The accesses to each cell of some memory that may still race with another.
class Record {
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

// Another launch, or a copy, that may run at the same time as the one that runs.
struct Beside {
    uint64_t first, blocks;  // counted over all launches: its blocks are first + 1 to first + blocks
    const char* name;        // of the kernel, or of the function that copies
    const void* place;       // where the program calls it
    bool launch;
    int device;              // -1: there is only one device
    std::string text() const;  // "put, launched at program.cu:31 on device 1"
    std::string text(bool writes) const;  // "put, launched at program.cu:31 on device 1 writes it"
};
// The verb of a sentence for a reader: " writes it". A function that allocates or frees in the order of a stream has
// its own.
const char* verb(const char* function, bool writes);
// The launch or copy that a block belongs to; null: none. `all` is in the order of blocks.
const Beside* beside_of(uint64_t block, const std::vector<Beside>& all);

// The order of places in one warp's requests since the barrier. A hazard is named by the place that comes first in the
// program, not by the one that comes first in this run.
class Sequence {
public:
    void clear() { sites_.clear(); }
    void add(Site site) { sites_.push_back(site); }
    // True if `other` is in front of the request for `site` that is the `order`-th.
    bool precedes(Site other, Site site, int order) const;

private:
    std::vector<Site> sites_;
};

// One lane's access to a cell.
struct Access {
    const Request& request;
    int lane;
    Mark mark;
    const std::string& memory;
    int64_t offset;     // of the cell
    uintptr_t address;  // of the cell
};

class Hazards {
public:
    Hazards(const Order& order, const Sites& sites, bool global, Findings& findings)
        : order_(order), sites_(sites), global_(global), findings_(findings)
    {
    }
    // A launch or a copy begins. `beside`: the work that may run at the same time; null: none.
    void start(const std::vector<Beside>* beside) { beside_ = beside; }
    // Accesses at an earlier time are ordered before all that follow.
    uint32_t floor() const { return !global_ ? order_.phase() : beside_ ? 1 : order_.launch_start(); }

    // True if all accesses to the cell since the barrier are plain loads, and so is this one, by another thread.
    // Nothing orders such loads, so there is nothing to compare. The new one is then remembered, if there is room.
    bool one_more_load(Record& record, size_t index, Mark mark) const;
    // True if the thread itself made the last access, so that there is nothing to compare. The new access is then
    // remembered.
    bool own(Mark& cell, Mark mark, Site site) const
    {
        if (strength_of(site) != as_data || cell & special || (cell ^ mark) & threads_mask ||
            time_of(cell) < order_.block_start())
            return false;
        if (kind_of(site) == store || uint32_t(cell) == uint32_t(mark)) cell = mark;
        else if (time_of(cell) != time_of(mark) || kind_of(sites_.of(cell)) != store ||
                 strength_of(sites_.of(cell)) != as_data)
            return false;
        return true;
    }
    // Adds the finding of a load of bytes that were never stored. `some`: others of its bytes were.
    void add_uninitialized(Site site, Mark mark, const Array& array, uint64_t offset, bool some) const;
    // Compares an access with those that are remembered, and remembers it.
    void note(Record& record, size_t index, const Access& access);
    // `same`: a plain store of the same value that is not ordered before this one; 0: none.
    void remember(Record& record, size_t index, Mark mark, Mark same = 0);
    // The accesses to a cell that may matter.
    Record::List marks(const Record& record, size_t index) const;

    // The requests of the warp are all known: hazards among them can be named.
    void warp_done(const Sequence& sequence, const BarrierOf& barrier_of);
    void block_done();

private:
    // An access, and an earlier one.
    struct Clash {
        Site site, other_site;
        Moment at, other;
        int order;  // of the request among its warp's
        const std::string* memory;
        int64_t offset;
        uintptr_t address;
        uintptr_t access;  // where the access begins that the cell is a part of
        uint16_t before;   // of a store: the fingerprint of what it has overwritten there
    };
    struct Doubtful {
        Clash clash;
        uint64_t count;
        Finding finding;
    };
    struct Hazard {
        Clash clash;
        uint64_t count;
        bool signal;
    };
    struct Meeting {
        const Beside* other;
        Finding finding;
    };
    enum Verdict { harmless, same_value, hazard };

    Moment moment(Mark m) const { return {order_.block_at(time_of(m)), time_of(m), thread_of(m)}; }
    bool before(Mark m, const Moment& at) const;
    bool covers(Mark m, Mark other) const;
    Verdict compare(const Access& access, Mark other);
    Verdict look(const Clash& clash);
    static const Moment* reader_of(const Clash& clash);
    bool again(Record& record, size_t index, Mark mark) const;
    void note_beside(const Beside& other, const Access& access, bool stores);
    static void look_for_barrier(Finding& finding, uint64_t of_first, uint64_t of_second);
    Finding named(const Clash& clash, uint64_t count, const Sequence& sequence) const;

    const Order& order_;
    const Sites& sites_;
    const bool global_;
    Findings& findings_;
    const std::vector<Beside>* beside_ = nullptr;
    std::vector<Hazard> hazards_;  // of the warp
    std::vector<Meeting> meetings_;
    // Plain loads of words that others change atomically. They are no hazard if the thread then compares and swaps,
    // which is known at the end of the block.
    std::vector<Doubtful> doubtful_;
    size_t named_ = 0;
    std::unordered_map<uint64_t, size_t> doubtful_by_key_;
};

}  // namespace sim
