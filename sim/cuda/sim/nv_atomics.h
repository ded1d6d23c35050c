// The atomic functions of CUDA 12.8 and later, with an order and a scope: __nv_atomic_fetch_add(address, value, order,
// scope).

#pragma once
#pragma GCC system_header

#include "scopes.h"

enum {
    __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST,
};
enum {
    __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM,
};

namespace sim {

SIM_INLINE std::memory_order nv_order(int order) { return std::memory_order(order); }
SIM_INLINE Scope nv_scope(int scope) { return scope <= __NV_THREAD_SCOPE_BLOCK ? block_scope : device_scope; }

}  // namespace sim

// Results that go through a pointer are stored in the text of the kernel, where stores are watched.
template <typename T>
SIM_FUNCTION T __nv_atomic_load_n(const T* address, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    return sim::atomic_load(address, sim::nv_order(order), SIM_PLACE);
}
template <typename T>
SIM_INLINE void __nv_atomic_load(const T* address, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *result = __nv_atomic_load_n(address, order, scope);
}

template <typename T>
SIM_FUNCTION void __nv_atomic_store_n(T* address, sim::SameAs<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    sim::atomic_store(address, value, sim::nv_order(order), sim::nv_scope(scope), SIM_PLACE);
}
template <typename T>
SIM_INLINE void __nv_atomic_store(T* address, const T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_store_n(address, *value, order, scope);
}

// `expression`: of `old` and `value`.
#define SIM_NV_CHANGE(name, expression) \
    template <typename T> \
    SIM_FUNCTION T __nv_atomic_##name(T* address, sim::SameAs<T> value, int order, \
                                      int scope = __NV_THREAD_SCOPE_SYSTEM) \
    { \
        SIM_CHANGE_IN_ORDER(T, address, sim::nv_order(order), sim::nv_scope(scope), expression, old) \
    }
#define SIM_NV_FETCH(name, expression) \
    SIM_NV_CHANGE(fetch_##name, expression) \
    template <typename T> \
    SIM_INLINE void __nv_atomic_##name(T* address, sim::SameAs<T> value, int order, \
                                       int scope = __NV_THREAD_SCOPE_SYSTEM) \
    { \
        __nv_atomic_fetch_##name(address, value, order, scope); \
    }
SIM_NV_CHANGE(exchange_n, value)
SIM_NV_FETCH(add, old + value)
SIM_NV_FETCH(sub, old - value)
SIM_NV_FETCH(and, old & value)
SIM_NV_FETCH(or, old | value)
SIM_NV_FETCH(xor, old ^ value)
SIM_NV_FETCH(min, value < old ? value : old)
SIM_NV_FETCH(max, old < value ? value : old)
#undef SIM_NV_FETCH
#undef SIM_NV_CHANGE

template <typename T>
SIM_INLINE void __nv_atomic_exchange(T* address, const T* value, T* result, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *result = __nv_atomic_exchange_n(address, *value, order, scope);
}

namespace sim {

template <typename T>
SIM_FUNCTION T nv_compare_and_swap(T* address, T expected, T value, int order, int scope)
{
    return compare_and_swap(address, expected, value, nv_order(order), nv_scope(scope), SIM_PLACE);
}

}  // namespace sim

template <typename T>
SIM_INLINE bool __nv_atomic_compare_exchange_n(T* address, T* expected, sim::SameAs<T> value, bool, int order, int,
                                               int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    const T wanted = *expected, found = sim::nv_compare_and_swap<T>(address, wanted, value, order, scope);
    if (sim::same_bits(found, wanted)) return true;
    *expected = found;
    return false;
}
template <typename T>
SIM_INLINE bool __nv_atomic_compare_exchange(T* address, T* expected, const T* value, bool weak, int order, int failure,
                                             int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_compare_exchange_n(address, expected, *value, weak, order, failure, scope);
}

SIM_FUNCTION inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    if (order != __NV_ATOMIC_RELAXED) sim::fence(sim::nv_scope(scope), SIM_PLACE);
}
SIM_INLINE void __nv_atomic_signal_fence(int, int = __NV_THREAD_SCOPE_SYSTEM) {}
