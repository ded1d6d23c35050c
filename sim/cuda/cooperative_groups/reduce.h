// cg::reduce(), and the operations for it and for the scans.

#pragma once
#pragma GCC system_header

#include "../sim/groups.h"

namespace cooperative_groups {

template <typename T = void>
struct plus {
    SIM_INLINE_MEMBER T operator()(T a, T b) const { return a + b; }
};
template <typename T = void>
struct less {
    SIM_INLINE_MEMBER T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T = void>
struct greater {
    SIM_INLINE_MEMBER T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T = void>
struct bit_and {
    SIM_INLINE_MEMBER T operator()(T a, T b) const { return a & b; }
};
template <typename T = void>
struct bit_or {
    SIM_INLINE_MEMBER T operator()(T a, T b) const { return a | b; }
};
template <typename T = void>
struct bit_xor {
    SIM_INLINE_MEMBER T operator()(T a, T b) const { return a ^ b; }
};

// In the order of ranks: of floating-point numbers, hardware may add in another order.
template <typename Group, typename T, typename Operation>
SIM_FUNCTION T reduce(const Group& group, T value, Operation operation)
{
    ::sim::Gathered<T> all;
    const uint32_t lanes = group.sim_lanes();
    ::sim::gather(all, lanes, value, SIM_PLACE);
    unsigned lane = ::sim::lane_of_rank(lanes, 0);
    T result = all[lane];
    while (++lane < 32)
        if (::sim::has(lanes, lane)) result = operation(result, all[lane]);
    return result;
}

template <unsigned Size, typename T, typename Operation>
SIM_FUNCTION T reduce(const multi_warp_tile<Size>& tile, T value, Operation operation)
{
    return tile.sim_reduce(value, operation, SIM_PLACE);
}

}  // namespace cooperative_groups
