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

// An order releases, acquires or does both. Sequential consistency does both, and no more is simulated.
SIM_INLINE bool releases(std::memory_order order)
{
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}
SIM_INLINE bool acquires(std::memory_order order)
{
    return order != std::memory_order_relaxed && order != std::memory_order_release;
}
constexpr SIM_INLINE Scope scope_of(cuda::thread_scope scope)
{
    return scope == cuda::thread_scope_block || scope == cuda::thread_scope_thread ? block_scope : device_scope;
}

// Before an atomic operation, in a kernel or on the host. One that releases hands over what was done before it.
SIM_FUNCTION inline void before_change(const void* address, unsigned bytes, std::memory_order order, Scope scope,
                                       const void* place)
{
    if (!in_kernel()) return;
    if (releases(order)) release(address, false, scope, place);
    access(address, bytes, atomic, place);
}
SIM_FUNCTION inline void before_store(const void* address, unsigned bytes, std::memory_order order, Scope scope,
                                      const void* place)
{
    if (!in_kernel()) return;
    release(address, !releases(order), scope, place);
    access(address, bytes, store, place, as_atomic);
}
SIM_FUNCTION inline void before_load(const void* address, unsigned bytes, std::memory_order order, const void* place)
{
    if (!in_kernel()) return;
    access(address, bytes, load, place, as_atomic);
    acquire(address, !acquires(order), place);
}

// Atomic operations at an address. They are sequentially consistent on the host, whatever their order.
template <typename T>
SIM_INLINE Bits<T>* word_of(const T* address) { return reinterpret_cast<Bits<T>*>(const_cast<T*>(address)); }
template <typename T>
SIM_FUNCTION T atomic_load(const T* address, std::memory_order order, const void* place)
{
    before_load(address, sizeof(T), order, place);
    return bit_cast<T>(__atomic_load_n(word_of(address), __ATOMIC_SEQ_CST));
}
template <typename T>
SIM_FUNCTION void atomic_store(T* address, SameAs<T> value, std::memory_order order, Scope scope, const void* place)
{
    before_store(address, sizeof(T), order, scope, place);
    __atomic_store_n(word_of(address), bit_cast<Bits<T>>(value), __ATOMIC_SEQ_CST);
}
// Returns what it found, which is `expected` if it has stored `value`.
template <typename T>
SIM_FUNCTION T compare_and_swap(T* address, SameAs<T> expected, SameAs<T> value, std::memory_order order, Scope scope,
                                const void* place)
{
    before_change(address, sizeof(T), order, scope, place);
    confirm(address, sizeof(T));
    Bits<T> before = bit_cast<Bits<T>>(expected);
    __atomic_compare_exchange_n(word_of(address), &before, bit_cast<Bits<T>>(value), false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return bit_cast<T>(before);
}
template <typename T>
SIM_INLINE bool same_bits(T a, T b) { return bit_cast<Bits<T>>(a) == bit_cast<Bits<T>>(b); }

}  // namespace sim

// The body of a function that replaces what is at `address` by `change`, an expression of `old`, and returns `result`,
// an expression of `old` and `next`.
#define SIM_CHANGE_IN_ORDER(T, address, order, scope, change, result) \
    ::sim::before_change(address, sizeof(T), order, scope, SIM_PLACE); \
    SIM_REPLACE(T, address, change, result)
