// Forms requests: the accesses of single threads, put back together into what warps ask for.
//
// Threads run one after another, each up to the next barrier. A lane's accesses are recorded in a
// column of its own. Once all lanes of a warp have stopped, accesses that were made at the same
// place of the kernel, in the same turn of the same loops and on the same path of calls, form one
// request, as they do on hardware that brings lanes together again after they went different ways.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "thread.h"

namespace sim {

constexpr int warp_size = 32;

enum Space { global, shared, peer };  // peer: global memory of another device

// An access, in one word: the lower half of the return address that stands for its place in the
// kernel, its kind, its size, how strong it is, and the turn that the thread was in (launch.h).
using Site = uint64_t;

constexpr int turn_bit = 38;
constexpr uint64_t strong = uint64_t(1) << 37;
constexpr Site site_of(uint64_t return_address, Kind kind, unsigned log2_bytes, Strength strength = as_data)
{
    const uint64_t kinds = strength == as_data || kind == atomic ? uint64_t(kind) << 32
                           : strength == as_volatile           ? strong | uint64_t(kind) << 32
                                                               : strong | uint64_t(2 | kind) << 32;
    return uint32_t(return_address) | kinds | uint64_t(log2_bytes) << 34;
}
constexpr Site without_turn(Site site) { return site & ((uint64_t(1) << turn_bit) - 1); }
constexpr Kind kind_of(Site site) { return Kind(site >> 32 & (site & strong ? 1 : 3)); }
constexpr Strength strength_of(Site site) { return site >> 33 & 1 ? as_atomic : site & strong ? as_volatile : as_data; }
constexpr unsigned bytes_of(Site site) { return 1u << (site >> 34 & 7); }
// Not an access, but an event of the thread, recorded among its accesses: the address is its time (order.h).
constexpr Site event_of(uint64_t return_address) { return uint32_t(return_address) | uint64_t(3) << 32; }
constexpr bool is_event(Site site) { return (site >> 32 & 3) == 3 && !(site & strong); }
// The whole address again: the kernel lies in the same 2 GB as this program's other functions.
uint64_t return_address(Site site);

// The n-th access of each lane of a warp since the last time that requests were formed.
struct Row {
    uint64_t address[warp_size];
    Site site[warp_size];
};
constexpr ptrdiff_t words_per_row = sizeof(Row) / sizeof(uint64_t);

// One request: what one memory instruction asks for on behalf of a warp.
struct Request {
    Site site;                // without a turn
    uint32_t lanes;           // bit l set: lane l takes part
    const uint64_t* address;  // of each lane, valid where its bit is set
    int order = 0;            // among the warp's requests since the last barrier
    const uint32_t* times = nullptr;  // of the last event of each lane
};

// Where the running lane writes its next record: the address at `next`, the site warp_size
// words on, then words_per_row words further. Up to `end` there is room.
struct Cursor {
    uint64_t* next;
    uint64_t* end;
};
extern __thread Cursor cursor;

// The accesses of one warp, recorded through this host thread's cursor.
class WarpRecord {
public:
    WarpRecord() : rows_(64) {}

    // The running lane goes on where its column ends.
    void begin_lane(int lane)
    {
        lane_ = lane;
        cursor.next = rows_.data()->address + lane + length_[lane] * words_per_row;
        cursor.end = rows_.data()->address + lane + rows_.size() * words_per_row;
    }

    void end_lane()
    {
        const size_t length = (cursor.next - (rows_.data()->address + lane_)) / words_per_row;
        length_[lane_] = uint32_t(length);
        if (length) active_ |= 1u << lane_;
    }

    void grow();  // when there is no room left
    // There may be no more of it: 32 MB. The threads make way, so that requests are formed.
    bool full() const { return rows_.size() >= 1 << 16; }

    // Forms the requests, hands each to `count`, and starts over. `order`: of the first of them. `times`: of the
    // last event of each lane, before and, in the end, after.
    // Returns the order of the next.
    template <typename Count>
    int flush(int order, uint32_t* times, Count&& count);

private:
    struct Group {
        Row row;
        uint32_t lanes;
        size_t order;
        uint32_t times[warp_size];
    };
    void regroup(std::vector<Group>& groups, uint32_t* times) const;

    std::vector<Row> rows_;
    int lane_ = 0;
    uint32_t active_ = 0;  // lanes with at least one record
    uint32_t length_[warp_size] = {};
};

template <typename Count>
int WarpRecord::flush(int order, uint32_t* times, Count&& count)
{
    if (!active_) return order;
    const int first = __builtin_ctz(active_);
    const size_t length = length_[first];

    // The usual case: every active lane made the same accesses in the same order.
    bool together = true;
    for (int lane = 0; lane < warp_size; ++lane)
        together &= length_[lane] == length || !(active_ >> lane & 1);
    for (size_t i = 0; i < length && together; ++i) {
        const Row& row = rows_[i];
        uint64_t differ = 0;
        if (active_ == ~0u)
            for (int lane = 0; lane < warp_size; ++lane) differ |= row.site[lane] ^ row.site[0];
        else
            for (int lane = 0; lane < warp_size; ++lane)
                if (active_ >> lane & 1) differ |= row.site[lane] ^ row.site[first];
        together = differ == 0;
    }

    if (together) {
        for (size_t i = 0; i < length; ++i) {
            const Row& row = rows_[i];
            if (__builtin_expect(is_event(row.site[first]), 0)) {
                for (int lane = 0; lane < warp_size; ++lane)
                    if (active_ >> lane & 1) times[lane] = uint32_t(row.address[lane]);
            } else {
                count(Request{without_turn(row.site[first]), active_, row.address, order++, times});
            }
        }
    } else {
        std::vector<Group> groups;
        regroup(groups, times);
        for (const Group& g : groups)
            count(Request{without_turn(g.row.site[__builtin_ctz(g.lanes)]), g.lanes, g.row.address, order++, g.times});
    }
    active_ = 0;
    for (uint32_t& n : length_) n = 0;
    return order;
}

}  // namespace sim
