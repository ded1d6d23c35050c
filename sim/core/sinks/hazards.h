// Hazards: two accesses of different threads to one place, at least one of them a store, with nothing between them that
// orders them. These classes remember accesses, tell hazards from pairs that only look like one, count them, and make
// faults of them.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "faults.h"
#include "../lanes/requests.h"
#include "../memory/memory.h"
#include "beside.h"
#include "cells.h"
#include "order.h"
#include "sequence.h"

namespace sim {

class Threads;

// One lane's access to a cell.
struct CellAccess {
    const Request& request;
    int lane;
    Mark mark;
    const std::string& memory;
    int64_t offset;     // of the cell
    uintptr_t address;  // of the cell
};

class Hazards {
public:
    Hazards(const Order& order, const Sites& sites, bool global, Faults& faults)
        : order_(order), sites_(sites), global_(global), faults_(faults)
    {
    }
    // A launch or a copy begins. `beside`: the work that may run at the same time; null: none.
    void start(const std::vector<Beside>* beside) { beside_ = beside; }
    // Accesses at an earlier time are ordered before all that follow.
    uint32_t floor() const { return !global_ ? order_.phase() : beside_ ? 1 : order_.launch_start(); }

    // True if all accesses to the cell since the barrier are plain loads, and so is this one, by another thread.
    // Nothing orders such loads, so there is nothing to compare. The new one is then remembered, if there is room.
    bool one_more_load(MemoryCells& cells, size_t index, Mark mark) const;
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
    // Adds the fault of a load of bytes that were never stored. `some`: others of its bytes were.
    void add_uninitialized(Site site, Mark mark, const Array& array, uint64_t offset, bool some) const;
    // Compares an access with those that are remembered, and remembers it.
    void note(MemoryCells& cells, size_t index, const CellAccess& access);
    // `same`: a plain store of the same value that is not ordered before this one; 0: none.
    void remember(MemoryCells& cells, size_t index, Mark mark, Mark same = 0);
    // The accesses to a cell that may matter.
    MemoryCells::List marks(const MemoryCells& cells, size_t index) const;

    // The requests of the warp are all known: hazards among them can be named.
    void warp_done(const Sequence& sequence, const Threads& threads);
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
    };
    struct Doubtful {
        Clash clash;
        uint64_t count;
        Fault fault;
    };
    struct Hazard {
        Clash clash;
        uint64_t count;
        bool signal;
    };
    struct Meeting {
        const Beside* other;
        Fault fault;
    };
    enum Verdict { harmless, same_value, hazard };

    Moment moment(Mark m) const { return {order_.block_at(time_of(m)), time_of(m), thread_of(m)}; }
    bool before(Mark m, const Moment& at) const;
    bool covers(Mark m, Mark other) const;
    Verdict compare(const CellAccess& access, Mark other);
    Verdict look(const Clash& clash, const CellAccess& access);
    static bool one_value(const Clash& clash, const CellAccess& access);
    static const Moment* reader_of(const Clash& clash);
    bool again(MemoryCells& cells, size_t index, Mark mark) const;
    void note_beside(const Beside& other, const CellAccess& access, bool stores);
    static void look_for_barrier(Fault& fault, uint64_t of_first, uint64_t of_second);
    Fault named(const Clash& clash, uint64_t count, const Sequence& sequence) const;

    const Order& order_;
    const Sites& sites_;
    const bool global_;
    Faults& faults_;
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
