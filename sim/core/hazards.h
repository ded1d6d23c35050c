// Hazards: two accesses of different threads to one place, at least one of them a store, with nothing between
// them that orders them. Here they are told from what only looks like one, counted, and put into findings.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "findings.h"
#include "order.h"

namespace sim {

// Who accessed a cell, and how, in one word.
using Actor = uint16_t;
constexpr Actor actor_of(int thread, Strength strength) { return Actor(thread | strength << 14); }
constexpr int thread_of(Actor actor) { return actor & 0x3fff; }
constexpr Strength strength_of_actor(Actor actor) { return Strength(actor >> 14); }

// The last accesses to a cell. Epochs count barriers and blocks, and tell old entries from new ones.
struct LastAccesses {
    uint32_t write_epoch = 0, read_epoch = 0;
    uint32_t write_time = 0, read_time = 0, other_read_time = 0;  // of the threads' last events
    uint32_t write_site = 0, read_site = 0;
    Actor writer = 0, reader = 0, other_reader = 0;  // other_reader: equal to reader if there is no other

    void note_store(Actor actor, uint32_t epoch, uint32_t time, uint32_t site)
    {
        write_epoch = epoch;
        write_time = time;
        writer = actor;
        write_site = site;
    }
    // `first`: nobody has loaded since the barrier.
    void note_load(Actor actor, uint32_t epoch, uint32_t time, uint32_t site, bool first)
    {
        if (first) {
            reader = other_reader = actor;
            read_time = time;
        } else if (reader == actor) {
            read_time = time;
        } else {
            other_reader = actor;
            other_read_time = time;
        }
        read_epoch = epoch;
        read_site = site;
    }
};

// Which place comes first in the program names a hazard, not which comes first in this run: the order
// of places in one warp's requests since the barrier.
class Sequence {
public:
    void clear() { sites_.clear(); }
    void add(Site site) { sites_.push_back(site); }
    // True if `other` is in front of the request for `site` that is the `order`-th.
    bool precedes(Site other, Site site, int order) const;

private:
    std::vector<Site> sites_;
};

// An access to a cell, and an earlier one.
struct Clash {
    Site site, other_site;
    Moment at, other;
    Strength other_strength;
    int order;  // of the request among its warp's
    const std::string* memory;
    int64_t offset;
    uintptr_t address;
    uintptr_t access;  // where the access begins that the cell is a part of
    uint16_t before;   // of a store: the fingerprint of what it has overwritten there
};

class Hazards {
public:
    Hazards(const Order& order, bool global) : order_(order), global_(global) {}
    // Two accesses to one cell, one of them a store: a hazard, if nothing orders them.
    void look(const Clash& clash);
    // The requests of the warp are all known: hazards among them can be named.
    void warp_done(const Sequence& sequence, Findings& findings);
    void block_done(Findings& findings);

private:
    struct Doubtful {
        Clash clash;
        uint64_t count;
        Finding finding;
    };
    Finding named(const Clash& clash, uint64_t count, const Sequence& sequence) const;

    const Order& order_;
    const bool global_;
    struct Hazard {
        Clash clash;
        uint64_t count;
    };
    std::vector<Hazard> hazards_;  // of the warp
    // Plain loads of what others change atomically: no hazard if the thread then compares and swaps, which the end
    // of the block tells.
    std::vector<Doubtful> doubtful_;
    size_t named_ = 0;
    std::unordered_map<uint64_t, size_t> doubtful_by_key_;
};

}  // namespace sim
