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

template <typename Group, typename T, typename Operation>
SIM_FUNCTION T reduce(const Group& group, T value, Operation operation)
{
    return ::sim::joined(group.sim_lanes(), value, 32, operation, SIM_PLACE);
}

template <unsigned Size, typename T, typename Operation>
SIM_FUNCTION T reduce(const multi_warp_tile<Size>& tile, T value, Operation operation)
{
    return tile.sim_reduce(value, operation, SIM_PLACE);
}

}  // namespace cooperative_groups
