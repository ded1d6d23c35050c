// Forms requests: the accesses of single threads, put back together into what warps ask for.
//
// Threads run one after another, each up to the next barrier. A lane's accesses are recorded in a
// column of its own. Once all lanes of a warp have stopped, accesses that were made at the same
// place of the kernel, in the same turn of the same loops and on the same path of calls, form one
// request, as they do on hardware that brings lanes together again after they went different ways.

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "access.h"

namespace sim {

class Columns;

// One request: what one memory instruction asks for on behalf of a warp.
struct Request {
    Site site;                // without a turn; of an atomic operation, with its flags
    uint32_t lanes;           // bit l set: lane l takes part
    const uint64_t* address;  // of each lane, valid where its bit is set
    int order = 0;            // among the warp's requests since the last barrier
    const uint32_t* times = nullptr;  // of the last event of each lane
    const uint64_t* recorded = nullptr;  // of what changes memory: the addresses with what stands above them
    const Columns* columns = nullptr;  // that it is formed of
    // Even: all lanes take part, and each address is equally far from that of the lane before. Most requests are even,
    // and several questions about these have a short answer.
    enum Spacing : uint8_t { unknown, even, uneven } spacing = unknown;
    uint64_t stride = 0;  // this distance, if the spacing is even
    uint64_t turn = 0;    // of the lanes

    // Finds out the spacing, so that it is known from then on.
    void measure()
    {
        spacing = uneven;
        if (lanes != ~0u) return;
        stride = address[1] - address[0];
        uint64_t differ = 0;
        // Compares with the second lane before, so that compilers can compare two lanes at a time.
        for (int lane = 2; lane < warp_size; ++lane) differ |= (address[lane] - address[lane - 2]) ^ 2 * stride;
        if (differ == 0) spacing = even;
    }
    // True if the spacing is even. A request that lacks lanes is never even.
    bool evenly_spaced(uint64_t& bytes) const
    {
        if (lanes != ~0u || spacing == uneven) return false;
        Request known = *this;
        if (spacing == unknown) known.measure();
        bytes = known.stride;
        return known.spacing == even;
    }

    unsigned lane_count() const { return lanes == ~0u ? warp_size : unsigned(__builtin_popcount(lanes)); }
};

// The fingerprints of what the stores of one statement have left at an address.
struct Left {
    uint32_t lanes = 0;   // that stored there
    uint32_t varied = 0;  // of these: the lanes that left more than one value
    uint16_t value[warp_size];
    uint16_t found = 0;  // there before the first store of the warp
};

// The accesses of one warp, a column for each lane, written through this host thread's cursor.
class Columns {
public:
    Columns() : rows_(64) { clear(); }

    // The running lane goes on where its column ends.
    void begin_lane(unsigned lane)
    {
        lane_ = lane;
        cursor.next = end_of_[lane] + lane;
        cursor.end = end_ + lane;
    }

    void end_lane() { end_of_[lane_] = cursor.next - lane_; }

    void grow();  // when there is no room left
    // True if the record has its largest size, 32 MB. The threads then make way, so that requests are formed.
    bool full() const { return rows_.size() >= 1 << 16; }

    // What the stores of a statement have left at the address, of those that are recorded. The lanes ran one after
    // another, so each store has found what the one before it left.
    const Left& left(Site site, uintptr_t address) const;

    // Forms the requests, hands each to `count`, and starts over. `order`: the number of the first request. `times`:
    // the time of each lane's last event, which flush() brings up to date. Returns the number of the next request.
    template <typename Count>
    int flush(int order, uint32_t* times, Count&& count);

private:
    struct Group {
        Row row;
        uint32_t lanes;
        uint32_t times[warp_size];
    };
    // Forms groups of accesses that were made together. Returns the order of the groups.
    std::vector<size_t> regroup(std::vector<Group>& groups, uint32_t* times) const;
    // Forms a request of accesses that were made together.
    Request request_of(const Row& row, uint32_t lanes, int order, const uint32_t* times);
    void clear();
    uint64_t* begin() { return rows_.data()->address; }
    size_t length(unsigned lane) const { return size_t(end_of_[lane] - rows_.data()->address) / words_per_row; }

    void compare_stores() const;
    static uint64_t key_of(uintptr_t address, Site site);

    std::vector<Row> rows_;
    mutable std::unordered_map<uint64_t, Left> left_;  // by address and place; empty until it is asked for
    uint64_t* end_;                // of the rows
    unsigned lane_ = 0;            // that is running
    uint64_t* end_of_[warp_size];  // the row of each lane's next record
    uint64_t address_[warp_size];  // of what changes memory, without what stands above
};

inline Request Columns::request_of(const Row& row, uint32_t lanes, int order, const uint32_t* times)
{
    const int first = __builtin_ctz(lanes);
    const Site site = without_turn(row.site[first]);
    Request request{site, lanes, row.address, order, times};
    request.turn = row.site[first] >> turn_bit;
    request.columns = this;
    if (kind_of(site) != load) {
        if (kind_of(site) == atomic) request.site = with_flags(site, row.address[first] >> above_address);
        for (int lane = 0; lane < warp_size; ++lane) address_[lane] = row.address[lane] & address_bits;
        request.address = address_;
        request.recorded = row.address;
    }
    request.measure();
    return request;
}

inline void Columns::clear()
{
    for (unsigned lane = 0; lane < warp_size; ++lane) end_of_[lane] = begin();
    end_ = begin() + ptrdiff_t(rows_.size()) * words_per_row;
}

template <typename Count>
int Columns::flush(int order, uint32_t* times, Count&& count)
{
    // The usual case: every lane made the same accesses in the same order, or every one that made any.
    uint64_t unlike = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) unlike |= uint64_t(end_of_[lane]) ^ uint64_t(end_of_[0]);
    uint32_t active = ~0u;  // lanes with a record
    if (unlike)
        for (unsigned lane = 0; lane < warp_size; ++lane)
            if (end_of_[lane] == begin()) active &= ~(1u << lane);
    const unsigned first = unsigned(__builtin_ctz(active));
    const size_t length = this->length(first);
    if (length == 0) return order;
    bool together = true;
    for (unsigned lane = 0; lane < warp_size && unlike; ++lane)
        together &= end_of_[lane] == end_of_[first] || !(active >> lane & 1);
    for (size_t i = 0; i < length && together; ++i) {
        const Row& row = rows_[i];
        uint64_t differ = 0;
        if (active == ~0u)
            for (int lane = 0; lane < warp_size; ++lane) differ |= row.site[lane] ^ row.site[0];
        else
            for (int lane = 0; lane < warp_size; ++lane)
                if (active >> lane & 1) differ |= row.site[lane] ^ row.site[first];
        together = differ == 0;
    }

    if (together) {
        for (size_t i = 0; i < length; ++i) {
            const Row& row = rows_[i];
            if (__builtin_expect(is_event(row.site[first]), 0)) {
                for (int lane = 0; lane < warp_size; ++lane)
                    if (active >> lane & 1) times[lane] = uint32_t(row.address[lane]);
            } else {
                count(request_of(row, active, order++, times));
            }
        }
    } else {
        std::vector<Group> groups;
        for (size_t index : regroup(groups, times)) {
            const Group& g = groups[index];
            count(request_of(g.row, g.lanes, order++, g.times));
        }
    }
    clear();
    if (!left_.empty()) left_.clear();  // its buckets stay, and each flush would clear them
    return order;
}

}  // namespace sim
