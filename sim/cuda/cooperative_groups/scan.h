// cg::inclusive_scan() and cg::exclusive_scan().

#pragma once
#pragma GCC system_header

#include "reduce.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
SIM_FUNCTION T inclusive_scan(const Group& group, T value, Operation operation)
{
    return sim::joined(group.sim_lanes(), value, sim::lane() + 1, operation, SIM_PLACE);
}
// Sums begin with T().
template <typename Group, typename T>
SIM_FUNCTION T inclusive_scan(const Group& group, T value)
{
    return T{} + sim::joined(group.sim_lanes(), value, sim::lane() + 1, plus<T>(), SIM_PLACE);
}

// The first rank has none before it, and gets T().
template <typename Group, typename T, typename Operation>
SIM_FUNCTION T exclusive_scan(const Group& group, T value, Operation operation)
{
    const T before = sim::joined(group.sim_lanes(), value, sim::lane(), operation, SIM_PLACE);
    return sim::rank_of_lane(group.sim_lanes(), sim::lane()) ? before : T{};
}
template <typename Group, typename T>
SIM_FUNCTION T exclusive_scan(const Group& group, T value)
{
    const T before = sim::joined(group.sim_lanes(), value, sim::lane(), plus<T>(), SIM_PLACE);
    return sim::rank_of_lane(group.sim_lanes(), sim::lane()) ? T{} + before : T{};
}

}  // namespace cooperative_groups
