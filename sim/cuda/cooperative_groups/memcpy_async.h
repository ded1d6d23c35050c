// cg::memcpy_async() and cg::wait().

#pragma once
#pragma GCC system_header

#include "../sim/async.h"
#include "../sim/groups.h"

namespace cooperative_groups {

template <typename Group, typename Element, typename Size>
SIM_FUNCTION void memcpy_async(const Group& group, Element* to, const Element* from, const Size& bytes)
{
    sim::copy_part(to, from, size_t(bytes), unsigned(group.thread_rank()), unsigned(group.size()), SIM_PLACE,
                     cuda::promised_alignment<Size, alignof(Element)>);
}
template <typename Group, typename Size>
SIM_FUNCTION void memcpy_async(const Group& group, void* to, const void* from, const Size& bytes)
{
    sim::copy_part(to, from, size_t(bytes), unsigned(group.thread_rank()), unsigned(group.size()), SIM_PLACE);
}

// Copies as many elements as both sides have.
template <typename Group, typename Element, typename To, typename From>
SIM_FUNCTION void memcpy_async(const Group& group, Element* to, const To& to_count, const Element* from,
                               const From& from_count)
{
    const size_t count = size_t(to_count) < size_t(from_count) ? size_t(to_count) : size_t(from_count);
    sim::copy_part(to, from, count * sizeof(Element), unsigned(group.thread_rank()), unsigned(group.size()),
                     SIM_PLACE, alignof(Element));
}

template <typename Group>
SIM_FUNCTION void wait(const Group& group) { group.sim_sync(SIM_PLACE); }
template <unsigned, typename Group>
SIM_FUNCTION void wait_prior(const Group& group) { group.sim_sync(SIM_PLACE); }

}  // namespace cooperative_groups
