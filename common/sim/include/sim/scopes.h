// Scopes of threads, and orders of memory.

#pragma once
#pragma GCC system_header

#include <atomic>

#include "../cuda_runtime.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

using memory_order = ::std::memory_order;
inline constexpr memory_order memory_order_relaxed = ::std::memory_order_relaxed;
inline constexpr memory_order memory_order_consume = ::std::memory_order_consume;
inline constexpr memory_order memory_order_acquire = ::std::memory_order_acquire;
inline constexpr memory_order memory_order_release = ::std::memory_order_release;
inline constexpr memory_order memory_order_acq_rel = ::std::memory_order_acq_rel;
inline constexpr memory_order memory_order_seq_cst = ::std::memory_order_seq_cst;

}  // namespace cuda

namespace sim {

// Before an atomic operation, in a kernel or on the host. One that releases makes known what was stored before it.
SIM_FUNCTION inline void before_atomic(const void* address, unsigned bytes, bool releases, const void* place)
{
    if (!in_kernel()) return;
    if (releases) fence();
    access(address, bytes, atomic, place);
}
SIM_INLINE bool releases(std::memory_order order) { return order != std::memory_order_relaxed && order != std::memory_order_acquire && order != std::memory_order_consume; }

}  // namespace sim
