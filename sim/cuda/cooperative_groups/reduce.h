// cg::reduce(), and the operations for it and for the scans.

#pragma once
#pragma GCC system_header

#include "../sim/groups.h"

namespace cooperative_groups {

#define SIM_OPERATION(name, result) \
    template <typename T = void> \
    struct name { \
        SIM_INLINE_MEMBER T operator()(T a, T b) const { return result; } \
    };
SIM_OPERATION(plus, a + b)
SIM_OPERATION(less, b < a ? b : a)
SIM_OPERATION(greater, a < b ? b : a)
SIM_OPERATION(bit_and, a & b)
SIM_OPERATION(bit_or, a | b)
SIM_OPERATION(bit_xor, a ^ b)
#undef SIM_OPERATION

template <typename Group, typename T, typename Operation>
SIM_FUNCTION T reduce(const Group& group, T value, Operation operation)
{
    return sim::joined(group.sim_lanes(), value, 32, operation, SIM_PLACE);
}

template <unsigned Size, typename T, typename Operation>
SIM_FUNCTION T reduce(const multi_warp_tile<Size>& tile, T value, Operation operation)
{
    return tile.sim_reduce(value, operation, SIM_PLACE);
}

}  // namespace cooperative_groups
