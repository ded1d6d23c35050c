// cg::inclusive_scan() and cg::exclusive_scan().

#pragma once
#pragma GCC system_header

#include "reduce.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
SIM_FUNCTION T inclusive_scan(const Group& group, T value, Operation operation)
{
    ::sim::Gathered<T> all;
    const uint32_t lanes = group.sim_lanes();
    ::sim::gather(all, lanes, value, SIM_PLACE);
    unsigned lane = ::sim::lane_of_rank(lanes, 0);
    T result = all[lane];
    while (lane < ::sim::lane())
        if (::sim::has(lanes, ++lane)) result = operation(result, all[lane]);
    return result;
}
template <typename Group, typename T>
SIM_FUNCTION T inclusive_scan(const Group& group, T value)
{
    ::sim::Gathered<T> all;
    const uint32_t lanes = group.sim_lanes();
    ::sim::gather(all, lanes, value, SIM_PLACE);
    T result{};
    for (unsigned lane = 0; lane <= ::sim::lane(); ++lane)
        if (::sim::has(lanes, lane)) result = result + all[lane];
    return result;
}

// Of the ranks before: T() for the first.
template <typename Group, typename T, typename Operation>
SIM_FUNCTION T exclusive_scan(const Group& group, T value, Operation operation)
{
    ::sim::Gathered<T> all;
    const uint32_t lanes = group.sim_lanes();
    ::sim::gather(all, lanes, value, SIM_PLACE);
    T result{};
    bool any = false;
    for (unsigned lane = 0; lane < ::sim::lane(); ++lane) {
        if (!::sim::has(lanes, lane)) continue;
        result = any ? T(operation(result, all[lane])) : all[lane];
        any = true;
    }
    return result;
}
template <typename Group, typename T>
SIM_FUNCTION T exclusive_scan(const Group& group, T value)
{
    ::sim::Gathered<T> all;
    const uint32_t lanes = group.sim_lanes();
    ::sim::gather(all, lanes, value, SIM_PLACE);
    T result{};
    for (unsigned lane = 0; lane < ::sim::lane(); ++lane)
        if (::sim::has(lanes, lane)) result = result + all[lane];
    return result;
}

}  // namespace cooperative_groups
