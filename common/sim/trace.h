// What the simulator records: every access of every thread, put back together into the
// requests that warps make.
//
// Threads run one after another, each up to the next barrier. A lane's accesses are recorded
// in a column of its own; once all lanes of a warp have run, accesses made at the same site
// (the same place in the kernel) for the same time form one request, whichever way the lanes
// went in between; where some lanes were there less often, their addresses tell when (trace.cpp).

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sim {

constexpr int warp_size = 32;

enum Kind { load, store };
enum Space { global, shared };

// Where in the kernel an access is made, and what it is: return address, kind and size in one word.
using Site = uint64_t;

constexpr Site site_of(uint64_t return_address, Kind kind, unsigned log2_bytes)
{
    return return_address | uint64_t(kind) << 62 | uint64_t(log2_bytes) << 58;
}
constexpr uint64_t return_address(Site site) { return site & ((uint64_t(1) << 58) - 1); }
constexpr Kind kind_of(Site site) { return Kind(site >> 62 & 1); }
constexpr unsigned bytes_of(Site site) { return 1u << (site >> 58 & 15); }

// The n-th access of each lane of a warp since the last barrier.
struct Row {
    uint64_t address[warp_size];
    Site site[warp_size];
};

// One request: what one memory instruction asks for on behalf of a warp.
struct Request {
    Site site;
    uint32_t lanes;           // bit l set: lane l takes part
    const uint64_t* address;  // of each lane, valid where its bit is set
    int order = 0;            // among the warp's requests since the last barrier
};

// Where the running lane writes its next record: the address at `next`, the site warp_size
// words on, then words_per_row words further. Up to `end` there is room.
struct Cursor {
    uint64_t* next;
    uint64_t* end;
};
inline thread_local Cursor cursor;
constexpr ptrdiff_t words_per_row = sizeof(Row) / sizeof(uint64_t);

// The accesses of one warp between two barriers, recorded through this host thread's cursor.
class WarpTrace {
public:
    WarpTrace() : rows_(64) {}

    void begin_lane(int lane)
    {
        lane_ = lane;
        cursor.next = rows_.data()->address + lane;
        cursor.end = cursor.next + rows_.size() * words_per_row;
    }

    void end_lane()
    {
        const size_t length = (cursor.next - (rows_.data()->address + lane_)) / words_per_row;
        length_[lane_] = uint32_t(length);
        if (length) active_ |= 1u << lane_;
    }

    void grow();  // when there is no room left

    // Forms the requests, hands each to `count`, and starts over.
    template <typename Count>
    void flush(Count&& count);

private:
    struct Group {
        Row row;
        uint32_t lanes;
        int order;
    };
    void regroup(std::vector<Group>& groups) const;

    std::vector<Row> rows_;
    int lane_ = 0;
    uint32_t active_ = 0;  // lanes with at least one record
    uint32_t length_[warp_size] = {};
};

template <typename Count>
void WarpTrace::flush(Count&& count)
{
    if (!active_) return;
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
        for (size_t i = 0; i < length; ++i)
            count(Request{rows_[i].site[first], active_, rows_[i].address, int(i)});
    } else {
        std::vector<Group> groups;
        regroup(groups);
        for (const Group& g : groups)
            count(Request{g.row.site[__builtin_ctz(g.lanes)], g.lanes, g.row.address, g.order});
    }
    active_ = 0;
    for (uint32_t& n : length_) n = 0;
}

}  // namespace sim
