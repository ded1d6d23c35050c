// Counting. In: the parts of the requests of the blocks that one host thread runs. Out: the cost of each, and the sums
// of each site.
//
// A request is added to the record of its site. Requests come round in the same order from warp to warp, so the search
// for the record begins where the last one ended, and mostly ends there.
//
// Invariant: sums do not depend on which host thread ran a block, and among equally expensive requests the first in the
// order of blocks is kept. The cost of a request is constant.

#include "counter.h"

#include <algorithm>
#include <utility>

namespace sim {

void WorstConflict::add(const WorstConflict& other)
{
    if (other.units > units || (other.units == units && other.block < block)) *this = other;
}

void LocalIndex::add(const LocalIndex& other)
{
    const bool loops = in_loop || other.in_loop || turn != other.turn;
    if (other.block < block) *this = other;
    in_loop = loops;
}

void SiteCounts::add(const SiteCounts& other)
{
    AccessCounts::add(other);
    worst_conflict.add(other.worst_conflict);
    index.add(other.index);
    l1_turns += other.l1_turns;
    add_drawn(drawn, other.drawn);
}

Cost Counter::count(const PartOfRequest& part)
{
    const Request& request = part.request;
    if (part.space == shared && part.shifted)
        return count_shared({request.site, request.lanes, part.shifted, request.order}, 0);
    if (part.space == shared) return count_shared(request, part.shift);
    if (part.space == local) return count_local(request, part.warp);
    if (part.space == constant) return count_constant(request);
    look_at_output(request, static_cast<const Allocation&>(*part.array));
    return count_global(request, part.space);
}

void Counter::look_at_output(const Request& request, const Allocation& memory)
{
    const bool stores = kind_of(request.site) == store;
    if (memory.unwritten && stores) output_stored += uint64_t(request.lane_count()) * bytes_of(request.site);
    else if (memory.unwritten || (stores && !memory.read_only)) unordered_possible = true;
}

// True if nvcc joins the atomic operations of these lanes: one lane makes one operation for all.
bool Counter::is_one_operation(const Request& request) const
{
    return is_joined(request.site) && request.lane_count() > 1 && kind_of(request.site) == atomic &&
           rules_->asked_bytes(request) == bytes_of(request.site);
}

Cost Counter::cost(SiteCounts& here, int units) const
{
    here.units += uint64_t(units);
    here.worst = std::max(here.worst, units);
    return {units, &here};
}

Cost Counter::count_constant(const Request& request)
{
    SiteCounts& here = note(request, constant);
    uint64_t words[warp_size], stride;
    int count = 0;
    if (request.evenly_spaced(stride) && stride == 0) words[count++] = 0;
    else for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1)
            words[count++] = request.address[__builtin_ctz(lanes)] / 4;
    std::sort(words, words + count);
    here.ideal += 1;
    return cost(here, int(std::unique(words, words + count) - words));
}

// Local memory is counted word by word, because the words of one element lie apart: the first words of all lanes come
// first, then the second ones.
Cost Counter::count_local(const Request& request, int warp)
{
    const uint64_t first = request.address[__builtin_ctz(request.lanes)];
    SiteCounts& here = note(request, local, local_arrays[(first - local_addresses) >> above_local_address]);
    compare(here.index, request, warp);
    Request word = request;
    word.site = site_of(0, kind_of(request.site), 2);
    uint64_t address[warp_size];
    word.address = address;
    word.spacing = Request::unknown;
    int units = 0;
    for (unsigned at = 0; at < bytes_of(request.site); at += 4) {
        for (int lane = 0; lane < warp_size; ++lane) address[lane] = request.address[lane] / 4 * 4 + at * warp_size;
        rules_->global(word, transactions_);
        here.bytes += transactions_.bytes;
        units += transactions_.count;
        here.l1_turns += uint64_t((transactions_.count + 3) / 4);  // words of different numbers take turns in the L1
    }
    const uint64_t asked = request.lane_count() * uint64_t(bytes_of(request.site));
    here.asked += asked;
    here.ideal += rules_->ideal_global(request, asked);
    return cost(here, units);
}

// Where all threads of a block have one offset at the same place in the same turn, the index depends on the turn alone:
// nvcc knows it, once loops are unrolled. Lanes are compared in their request, and warps by their first requests.
void Counter::compare(LocalIndex& index, const Request& request, int warp)
{
    constexpr size_t most_seen = 1 << 16;
    index.in_loop |= index.turn != request.turn;
    if (index.block <= block_) return;
    const auto in_array = [&](int lane) { return request.address[lane] - uint64_t(4 * lane); };
    const int first = __builtin_ctz(request.lanes);
    Seen one{in_array(first), warp, warp * warp_size + first}, other = one;
    for (uint32_t lanes = request.lanes; lanes && other.address == one.address; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        other = {in_array(lane), warp, warp * warp_size + lane};
    }
    if (other.address == one.address && seen_.size() < most_seen) {
        const Seen& seen = seen_.try_emplace(request.site | request.turn << turn_bit, one).first->second;
        if (seen.warp != warp) other = std::exchange(one, seen);
    }
    if (other.address == one.address) return;
    index.block = block_;
    int i = 0;
    for (const Seen& s : {one, other}) {
        index.thread[i] = s.thread;
        const uint64_t at = s.address & ((uint64_t(1) << above_local_address) - 1);
        index.offset[i++] = at / (4 * warp_size) * 4 + at % 4;
    }
}

SiteCounts& Counter::at(const Request& request, Space space, const LocalArray& array)
{
    for (size_t tried = 0; tried < sites_.size(); ++tried) {
        if (next_ >= sites_.size()) next_ = 0;
        SiteCounts& here = sites_[next_++];
        if (here.site == request.site && here.space == space && here.index.array.place == array.place) return here;
    }
    SiteCounts fresh;
    fresh.site = request.site;
    fresh.space = space;
    fresh.index.array = array;
    fresh.index.turn = request.turn;
    sites_.push_back(fresh);
    next_ = sites_.size();
    return sites_.back();
}

__attribute__((cold, noinline)) void Counter::note_conflict(SiteCounts& site, const Request& request, int units,
                                                            uint64_t offset)
{
    site.worst_conflict = {units, block_, rules_->conflict(request)};
    for (uint64_t& word : site.worst_conflict.conflict.words) word += int64_t(offset) / 4;
}

inline SiteCounts& Counter::note(const Request& request, Space space, const LocalArray& array)
{
    SiteCounts& here = at(request, space, array);
    here.requests += 1;
    here.accesses += request.lane_count();
    if (here.stride == 0)
        for (int lane = 0; lane + 1 < warp_size; ++lane)
            if (request.lanes >> lane & request.lanes >> (lane + 1) & 1) {
                here.stride = int64_t(request.address[lane + 1] - request.address[lane]);
                break;
            }
    return here;
}

Cost Counter::count_shared(const Request& request, uint64_t offset)
{
    if (is_one_operation(request)) {
        Request one = request;
        one.lanes &= -one.lanes;
        const Cost cost = count_shared(one, offset);
        cost.site->accesses += request.lane_count() - 1;
        return cost;
    }
    SiteCounts& here = note(request, shared);
    const int units = rules_->shared(request), ideal = rules_->ideal_shared(request);
    here.ideal += ideal;
    if (units > ideal && units > here.worst_conflict.units) note_conflict(here, request, units, offset);
    return cost(here, units);
}

// Global memory of this device, or of a peer.
Cost Counter::count_global(const Request& request, Space space)
{
    if (space == global && is_one_operation(request)) {
        Request one = request;
        one.lanes &= -one.lanes;
        const Cost cost = count_global(one, space);
        cost.site->accesses += request.lane_count() - 1;
        return cost;
    }
    SiteCounts& here = note(request, space);
    rules_->global(request, transactions_);
    here.bytes += transactions_.bytes;
    const uint64_t asked = rules_->asked_bytes(request);
    here.asked += asked;
    here.ideal += rules_->ideal_global(request, asked);
    Cost all = cost(here, transactions_.count);
    all.transactions = &transactions_;
    all.asked = asked;
    return all;
}

}  // namespace sim
