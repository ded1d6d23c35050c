// Cooperative groups. A group is a block, or some lanes of a warp.

#pragma once
#pragma GCC system_header

#include "async.h"
#include "copies.h"

namespace sim {

inline constexpr size_t largest_value = 32;  // bytes that lanes may exchange at once, as in CUDA

// The n-th lane of `lanes`, from 0 on; 32 if there are fewer.
SIM_FUNCTION inline unsigned lane_of_rank(uint32_t lanes, unsigned n)
{
    for (unsigned l = 0; l < 32; ++l)
        if (has(lanes, l) && n-- == 0) return l;
    return 32;
}

SIM_INLINE unsigned rank_of_lane(uint32_t lanes, unsigned lane)
{
    return unsigned(__builtin_popcount(lanes & ((1u << lane) - 1)));
}

// Bits of lanes, as bits of ranks in the group.
SIM_FUNCTION inline uint32_t packed(uint32_t bits, uint32_t lanes)
{
    uint32_t result = 0;
    for (unsigned l = 0, rank = 0; l < 32; ++l)
        if (has(lanes, l)) result |= (bits >> l & 1) << rank++;
    return result;
}

// The values of all lanes, by lane. They come 8 bytes at a time.
template <typename T>
struct Gathered {
    alignas(T) alignas(8) unsigned char bytes[32][(sizeof(T) + 7) / 8 * 8];
    const T& operator[](unsigned lane) const { return *reinterpret_cast<const T*>(bytes[lane]); }
};

// Returns the lanes that took part.
template <typename T>
SIM_FUNCTION uint32_t gather(Gathered<T>& all, uint32_t lanes, const T& value, const void* place)
{
    static_assert(sizeof(T) <= largest_value, "lanes exchange values of 32 bytes at most");
    uint32_t came = 0;
    for (size_t at = 0; at < sizeof(T); at += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && at + i < sizeof(T); ++i)
            word |= uint64_t(reinterpret_cast<const unsigned char*>(&value)[at + i]) << 8 * i;
        const Exchange& words = exchange(lanes, word, place);
        came = words.lanes;
        for (unsigned l = 0; l < 32; ++l)
            for (size_t i = 0; i < 8; ++i) all.bytes[l][at + i] = (unsigned char)(words.value[l] >> 8 * i);
    }
    return came;
}

// The values of the lanes up to, and without, `end`, joined in the order of ranks: of floating-point numbers, hardware
// may add in another order. The first lane's value is always part of it.
template <typename T, typename Operation>
SIM_FUNCTION T joined(uint32_t lanes, const T& value, unsigned end, Operation operation, const void* place)
{
    Gathered<T> all;
    lanes = gather(all, lanes, value, place);
    unsigned lane = lane_of_rank(lanes, 0);
    T result = all[lane];
    while (++lane < end)
        if (has(lanes, lane)) result = operation(result, all[lane]);
    return result;
}

// The value of lane `source`, as in shuffle().
template <typename T>
SIM_FUNCTION T value_of(uint32_t lanes, const T& value, unsigned source, const void* place, bool spare = false)
{
    Gathered<T> all;
    if (!has(gather(all, lanes, value, place), source)) note_absent(source, lanes, spare, place);
    return all[source % 32];
}

}  // namespace sim

namespace cooperative_groups {

// A block, or lanes of a warp; which of them, it knows at run time.
class thread_group {
public:
    SIM_FUNCTION void sync() const { sim_sync(SIM_PLACE); }
    SIM_FUNCTION unsigned long long size() const
    {
        return lanes_ ? unsigned(__builtin_popcount(lanes_)) : blockDim.x * blockDim.y * blockDim.z;
    }
    SIM_FUNCTION unsigned long long num_threads() const { return size(); }
    SIM_FUNCTION unsigned long long thread_rank() const
    {
        return lanes_ ? sim::rank_of_lane(lanes_, sim::lane()) : sim::rank();
    }
    bool is_valid() const { return true; }

    thread_group() = default;

    // For this header.
    explicit thread_group(uint32_t lanes) : lanes_(lanes) {}
    SIM_FUNCTION void sim_sync(const void* place) const
    {
        lanes_ ? sim::sync_warp(lanes_, place) : void(sim::sync_block(0, place));
    }
    SIM_FUNCTION uint32_t sim_lanes() const { return lanes_ ? lanes_ : sim::live_lanes(); }

protected:
    uint32_t lanes_ = 0;  // 0: the block
};

// Where tiles of more than a warp meet. A tile has at least two warps, and a block 32 at most.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
    // For this header.
    sim::Phases meetings_[16];
    alignas(16) unsigned char values_[32][sim::largest_value];  // one of each warp
};

class thread_block : public thread_group {
public:
    thread_block() = default;

    // For this header.
    explicit thread_block(block_tile_memory<>* memory) : memory_(memory) {}
    block_tile_memory<>* sim_memory() const { return memory_; }

    SIM_FUNCTION static void sync() { sim::sync_block(0, SIM_PLACE); }
    SIM_FUNCTION static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    SIM_FUNCTION static unsigned num_threads() { return size(); }
    SIM_FUNCTION static unsigned thread_rank() { return sim::rank(); }
    SIM_FUNCTION static dim3 group_index() { return blockIdx; }
    SIM_FUNCTION static dim3 thread_index() { return threadIdx; }
    SIM_FUNCTION static dim3 group_dim() { return blockDim; }
    SIM_FUNCTION static dim3 dim_threads() { return blockDim; }

private:
    block_tile_memory<>* memory_ = nullptr;
};

SIM_FUNCTION inline thread_block this_thread_block() { return {}; }

template <unsigned MaxBlockSize>
SIM_FUNCTION thread_block this_thread_block(block_tile_memory<MaxBlockSize>& memory)
{
    return thread_block(reinterpret_cast<block_tile_memory<>*>(&memory));
}

class grid_group {
public:
    SIM_FUNCTION void sync() const { sim_sync(SIM_PLACE); }
    SIM_FUNCTION void sim_sync(const void* place) const
    {
        sim::fail("grid-wide synchronization is not supported by the simulator", place);
    }
    bool is_valid() const { return false; }
    SIM_FUNCTION static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    SIM_FUNCTION static unsigned long long block_rank()
    {
        return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
    }
    SIM_FUNCTION static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    SIM_FUNCTION static unsigned long long size() { return num_threads(); }
    SIM_FUNCTION static unsigned long long thread_rank() { return block_rank() * thread_block::size() + sim::rank(); }
    SIM_FUNCTION static dim3 group_dim() { return gridDim; }
    SIM_FUNCTION static dim3 dim_blocks() { return gridDim; }
    SIM_FUNCTION static dim3 block_index() { return blockIdx; }
};

SIM_FUNCTION inline grid_group this_grid() { return {}; }

// Lanes of a warp: a tile of `Size` neighbours, or, for 0, any. A tile has its size even if a block has fewer threads.
template <unsigned Size>
class lane_group : public thread_group {
public:
    SIM_FUNCTION void sync() const { sim::sync_warp(lanes_, SIM_PLACE); }
    SIM_FUNCTION unsigned thread_rank() const
    {
        return Size ? sim::lane() % Size : sim::rank_of_lane(lanes_, sim::lane());
    }
    SIM_FUNCTION unsigned long long meta_group_rank() const { return meta_rank_; }
    SIM_FUNCTION unsigned long long meta_group_size() const { return meta_size_; }

    template <typename T>
    SIM_FUNCTION T shfl(T value, int rank) const { return of_rank(value, unsigned(rank) % count(), SIM_PLACE); }
    template <typename T>
    SIM_FUNCTION T shfl_up(T value, unsigned delta) const
    {
        const unsigned rank = thread_rank();
        return of_rank(value, rank >= delta ? rank - delta : rank, SIM_PLACE);
    }
    template <typename T>
    SIM_FUNCTION T shfl_down(T value, unsigned delta) const
    {
        const unsigned rank = thread_rank();
        return of_rank(value, rank + delta < count() ? rank + delta : rank, SIM_PLACE, rank >= delta);
    }
    SIM_FUNCTION int any(int predicate) const { return sim::ballot(lanes_, predicate, SIM_PLACE) != 0; }
    SIM_FUNCTION int all(int predicate) const { return sim::ballot(lanes_, !predicate, SIM_PLACE) == 0; }
    SIM_FUNCTION unsigned ballot(int predicate) const
    {
        return sim::packed(sim::ballot(lanes_, predicate, SIM_PLACE), lanes_);
    }
    template <typename T>
    SIM_FUNCTION unsigned match_any(T value) const
    {
        return sim::packed(sim::matches(lanes_, sim::to_bits(value), SIM_PLACE), lanes_);
    }
    template <typename T>
    SIM_FUNCTION unsigned match_all(T value, int& predicate) const
    {
        return sim::packed(sim::match_all(lanes_, sim::to_bits(value), &predicate, SIM_PLACE), lanes_);
    }

protected:
    lane_group(uint32_t lanes, unsigned meta_rank, unsigned meta_size)
        : thread_group(lanes), meta_rank_(meta_rank), meta_size_(meta_size)
    {
    }
    SIM_FUNCTION unsigned count() const { return Size ? Size : unsigned(__builtin_popcount(lanes_)); }
    template <typename T>
    SIM_FUNCTION T of_rank(const T& value, unsigned rank, const void* place, bool spare = false) const
    {
        const unsigned lane = Size ? sim::lane() / Size * Size + rank : sim::lane_of_rank(lanes_, rank);
        return sim::value_of(lanes_, value, lane, place, spare);
    }

    unsigned meta_rank_, meta_size_;
};

class coalesced_group : public lane_group<0> {
public:
    coalesced_group(uint32_t lanes, unsigned meta_rank, unsigned meta_size) : lane_group(lanes, meta_rank, meta_size) {}
};

SIM_FUNCTION inline coalesced_group coalesced_threads() { return {sim::converged(SIM_PLACE), 0, 1}; }

template <unsigned Size, typename Parent = void>
class thread_block_tile;

template <unsigned Size>
class thread_block_tile<Size, void> : public lane_group<Size> {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0 && Size != 0,
                  "the simulator has tiles of 1, 2, 4, 8, 16 and 32 threads");

public:
    thread_block_tile(unsigned meta_rank, unsigned meta_size) : lane_group<Size>(lanes_here(), meta_rank, meta_size) {}

    SIM_FUNCTION static constexpr unsigned long long size() { return Size; }
    SIM_FUNCTION static constexpr unsigned long long num_threads() { return Size; }
    SIM_FUNCTION static unsigned thread_rank() { return sim::lane() % Size; }

    template <typename T>
    SIM_FUNCTION T shfl_xor(T value, unsigned mask) const
    {
        const unsigned rank = thread_rank(), source = rank ^ mask;
        return this->of_rank(value, source < Size ? source : rank, SIM_PLACE);
    }

private:
    SIM_FUNCTION static uint32_t lanes_here()
    {
        const uint32_t all = Size == 32 ? 0xffffffff : (1u << Size % 32) - 1;
        return all << sim::lane() / Size * Size & sim::live_lanes();
    }
};

template <unsigned Size, typename Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
public:
    using thread_block_tile<Size, void>::thread_block_tile;
};

// A tile of several warps.
template <unsigned Size>
class multi_warp_tile {
    static_assert(Size <= 512 && (Size & (Size - 1)) == 0, "tiles have 1, 2, 4, ... or 512 threads");

public:
    SIM_FUNCTION static constexpr unsigned long long size() { return Size; }
    SIM_FUNCTION static constexpr unsigned long long num_threads() { return Size; }
    SIM_FUNCTION static unsigned thread_rank() { return sim::rank() % Size; }
    SIM_FUNCTION static unsigned long long meta_group_rank() { return sim::rank() / Size; }
    SIM_FUNCTION static unsigned long long meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
    SIM_FUNCTION void sync() const { sim_sync(SIM_PLACE); }
    SIM_FUNCTION int any(int predicate) const
    {
        return sim_reduce(predicate != 0, [](int a, int b) { return a | b; }, SIM_PLACE);
    }
    SIM_FUNCTION int all(int predicate) const
    {
        return sim_reduce(predicate != 0, [](int a, int b) { return a & b; }, SIM_PLACE);
    }
    template <typename T>
    SIM_FUNCTION T shfl(T value, int rank) const
    {
        T& shared = *reinterpret_cast<T*>(memory_->values_[first_warp()]);
        if (thread_rank() == unsigned(rank) % Size) shared = value;
        sim_sync(SIM_PLACE);
        const T result = shared;
        sim_sync(SIM_PLACE);
        return result;
    }

    // For this header.
    SIM_FUNCTION multi_warp_tile(block_tile_memory<>* memory, const void* place) : memory_(memory)
    {
        if (!memory)
            sim::fail("a tile of more than 32 threads needs block_tile_memory: give it to this_thread_block()",
                        place);
        const unsigned first = sim::rank() / Size * Size, left = thread_block::size() - first;
        if (thread_rank() == 0) meeting().start(left < Size ? left : Size, place);
        sim::sync_block(0, place);
    }
    SIM_FUNCTION void sim_sync(const void* place) const
    {
        sim::NoCompletion none;
        meeting().wait(meeting().arrive(1, 0, none, place), place);
    }
    template <typename T, typename Operation>
    SIM_FUNCTION T sim_reduce(T value, Operation operation, const void* place) const
    {
        const uint32_t lanes = sim::live_lanes();
        const auto of_warp = [&](unsigned warp) -> T& { return *reinterpret_cast<T*>(memory_->values_[warp]); };
        const T sum = sim::joined(lanes, value, 32, operation, place);
        if (sim::lane() == sim::lane_of_rank(lanes, 0)) of_warp(sim::rank() / 32) = sum;
        sim_sync(place);
        T result = of_warp(first_warp());
        const unsigned end = (thread_block::size() + 31) / 32;
        for (unsigned warp = first_warp() + 1; warp < end && warp < first_warp() + Size / 32; ++warp)
            result = operation(result, of_warp(warp));
        sim_sync(place);
        return result;
    }

private:
    SIM_FUNCTION static unsigned first_warp() { return sim::rank() / Size * (Size / 32); }
    SIM_FUNCTION sim::Phases& meeting() const { return memory_->meetings_[sim::rank() / Size]; }

    block_tile_memory<>* memory_;
};

template <unsigned Size>
SIM_FUNCTION auto tiled_partition(const thread_block& block)
{
    if constexpr (Size > 32) return multi_warp_tile<Size>(block.sim_memory(), SIM_PLACE);
    else return thread_block_tile<Size, thread_block>{sim::rank() / Size, (thread_block::size() + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, typename Parent>
SIM_FUNCTION thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>&)
{
    static_assert(Size <= ParentSize, "a tile is no larger than the group it is part of");
    return {sim::lane() % ParentSize / Size, ParentSize / Size};
}

// A tile whose size is known only at run time takes lanes in the order of ranks.
SIM_FUNCTION inline thread_group tiled_partition(const thread_group& parent, unsigned size)
{
    if (size == 0 || size > 32 || (size & (size - 1)))
        sim::fail("the simulator has tiles of 1, 2, 4, 8, 16 and 32 threads", SIM_PLACE);
    const uint32_t all = parent.sim_lanes();
    const unsigned first = sim::rank_of_lane(all, sim::lane()) / size * size;
    uint32_t lanes = 0;
    for (unsigned r = first; r < first + size; ++r) {
        const unsigned lane = sim::lane_of_rank(all, r);
        if (lane < 32) lanes |= 1u << lane;
    }
    return thread_group(lanes);
}
SIM_FUNCTION inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size)
{
    const thread_group tile = tiled_partition(static_cast<const thread_group&>(parent), size);
    const unsigned parents = unsigned(__builtin_popcount(parent.sim_lanes()));
    return {tile.sim_lanes(), sim::rank_of_lane(parent.sim_lanes(), sim::lane()) / size,
            (parents + size - 1) / size};
}

// By a label, and by a predicate.
template <typename Label, typename Group>
SIM_FUNCTION coalesced_group labeled_partition(const Group& group, Label label)
{
    sim::Gathered<Label> all;
    sim::gather(all, group.sim_lanes(), label, SIM_PLACE);
    uint32_t same = 0, seen = 0;
    unsigned groups = 0, own = 0;
    for (unsigned l = 0; l < 32; ++l) {
        if (!sim::has(group.sim_lanes(), l)) continue;
        if (all[l] == label) same |= 1u << l;
        bool first = true;
        for (unsigned before = 0; before < l; ++before)
            first = first && !(sim::has(seen, before) && all[before] == all[l]);
        seen |= 1u << l;
        if (first && all[l] == label) own = groups;
        groups += first;
    }
    return {same, own, groups};
}
template <typename Group>
SIM_FUNCTION coalesced_group binary_partition(const Group& group, bool predicate)
{
    const uint32_t votes = sim::ballot(group.sim_lanes(), predicate, SIM_PLACE);
    return {predicate ? votes : group.sim_lanes() & ~votes, unsigned(predicate), 2};
}

template <typename Group>
SIM_FUNCTION void sync(const Group& group) { group.sim_sync(SIM_PLACE); }
template <typename Group>
SIM_FUNCTION unsigned long long thread_rank(const Group& group) { return group.thread_rank(); }
template <typename Group>
SIM_FUNCTION unsigned long long group_size(const Group& group) { return group.size(); }

// One thread of the group calls it.
template <typename Group, typename Function, typename... Arguments>
SIM_FUNCTION void invoke_one(const Group& group, Function&& function, Arguments&&... arguments)
{
    if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <typename Group, typename Function, typename... Arguments>
SIM_FUNCTION auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
{
    decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
    if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
    return sim::value_of(group.sim_lanes(), result, sim::lane_of_rank(group.sim_lanes(), 0), SIM_PLACE);
}

}  // namespace cooperative_groups
