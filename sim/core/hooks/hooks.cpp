// The functions that the compiler calls in front of every access of a file that is compiled with
// -fsanitize=thread. The names and their meaning are the compilers'; their own library is not linked. With make
// SANITIZE=thread it is linked: mk/kernel.sh then renames the calls in kernel files, and HOOKED_AS these functions.
//
// At the end are those of -fsanitize=kernel-address, for the second witness (mk/witness.mk).

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../block/host_access.h"
#include "../block/worker.h"
#include "../memory/matrices.h"
#include "thread.h"

namespace sim {
namespace {

// The closer look at an access. Never inlined: the hooks stay small. The access is handed on by value, in registers, so
// that a hook can end with a jump to here: this function's frame is then the first above the kernel's.
__attribute__((noinline, cold)) void look(Access access)
{
    if (watching) Worker::here()->watch().look(access, Caller(__builtin_frame_address(0)));
    else if (output_matrix()) look_at_host(access);
}

// A volatile access may be a signal to another thread.
__attribute__((noinline)) void look_volatile(Access access)
{
    if (!watching) return look(access);
    const Caller caller(__builtin_frame_address(0));
    Worker& worker = *Worker::here();
    const uint64_t place = access.place();
    if (access.kind() == store) worker.note_release(access.address, true, device_scope, place);
    worker.watch().look(access, caller);
    if (access.kind() == load) worker.note_acquire(access.address, true, place);
}

// A part of the hook, whose frame is the one above the kernel's.
inline __attribute__((always_inline)) void look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place,
                                                         Pieces pieces)
{
    Worker::here()->watch().look_at_range(address, bytes, kind, place, pieces, Caller(__builtin_frame_address(0)));
}

// Writes the usual access down inline, without a stack frame.
template <Kind kind, unsigned log2_bytes>
inline __attribute__((always_inline)) void see(const void* pointer, const void* place)
{
    const uintptr_t address = uintptr_t(pointer);
    const Site site = site_of(uintptr_t(place), kind, log2_bytes) | turn;
    // The next block's tile mostly begins where this one's ends. Fetching it now costs less than waiting for it then.
    __builtin_prefetch(static_cast<const char*>(pointer) + 128, kind == store);
    const Range* global = kind == load ? likely.load : likely.store;
    const bool likely_there = global[0].holds(address) || likely.shared[0].holds(address) || global[1].holds(address) ||
                              likely.shared[1].holds(address);
    if (__builtin_expect(likely_there && address % (1u << log2_bytes) == 0 && !cursor.full(), 1))
        return cursor.put({kind == store ? with_fingerprint(address, 1u << log2_bytes) : address, site});
    look({address, site});
}

template <Kind kind, unsigned log2_bytes>
inline __attribute__((always_inline)) void see_volatile(const void* pointer, const void* place)
{
    look_volatile({uintptr_t(pointer), site_of(uintptr_t(place), kind, log2_bytes, as_volatile) | turn});
}

inline __attribute__((always_inline)) void see_range(const void* pointer, size_t bytes, Kind kind, const void* place)
{
    if (watching) look_at_range(uintptr_t(pointer), bytes, kind, uint64_t(place), in_words);
}

// A copy that the program makes with memcpy.
inline __attribute__((always_inline)) void see_bytes(const void* pointer, size_t bytes, Kind kind, const void* place)
{
    if (watching) look_at_range(uintptr_t(pointer), bytes, kind, uint64_t(place), in_bytes);
}

// A copy by memcpy, which clang also calls to copy a structure. Where the memory's elements are unknown, up to 16 bytes
// that lie at a multiple of their size are taken for one aligned object.
inline __attribute__((always_inline)) void see_copy(const void* pointer, size_t bytes, Kind kind, const void* place)
{
    if (!watching) return;
    const bool object =
        bytes <= 16 && (bytes & (bytes - 1)) == 0 && uintptr_t(pointer) % std::max<size_t>(bytes, 1) == 0;
    const Pieces pieces = object && bytes ? Pieces{unsigned(bytes)} : in_words;
    look_at_range(uintptr_t(pointer), bytes, kind, uint64_t(place), pieces);
}

// An access that is not aligned is made piece by piece; what that means for a GPU, the other hooks find out.
template <Kind kind, unsigned log2_bytes>
inline __attribute__((always_inline)) void see_again(const void* pointer, const void* place)
{
    if (uintptr_t(pointer) % (1u << log2_bytes)) see_range(pointer, 1u << log2_bytes, kind, place);
    else see<kind, log2_bytes>(pointer, place);
}

}  // namespace
}  // namespace sim

using sim::load;
using sim::store;

#define HERE __builtin_return_address(0)

#ifndef HOOKED_AS
#define HOOKED_AS __tsan_
#endif
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define HOOK(name) JOIN(HOOKED_AS, name)

// Accesses whose type is not aligned to its size are made piece by piece.
#define HOOKS(bytes, log2_bytes)                                                                                    \
    void HOOK(read##bytes)(void* p) { sim::see<load, log2_bytes>(p, HERE); }                                       \
    void HOOK(write##bytes)(void* p) { sim::see<store, log2_bytes>(p, HERE); }                                     \
    void HOOK(read_write##bytes)(void* p)                                                                          \
    {                                                                                                               \
        sim::see<load, log2_bytes>(p, HERE);                                                                        \
        sim::see<store, log2_bytes>(p, HERE);                                                                       \
    }                                                                                                               \
    void HOOK(unaligned_read##bytes)(void* p) { sim::see_range(p, bytes, load, HERE); }                            \
    void HOOK(unaligned_write##bytes)(void* p) { sim::see_range(p, bytes, store, HERE); }                          \
    void HOOK(unaligned_read_write##bytes)(void* p)                                                                \
    {                                                                                                               \
        sim::see_range(p, bytes, load, HERE);                                                                       \
        sim::see_range(p, bytes, store, HERE);                                                                      \
    }                                                                                                               \
    void HOOK(volatile_read##bytes)(void* p) { sim::see_volatile<load, log2_bytes>(p, HERE); }                     \
    void HOOK(volatile_write##bytes)(void* p) { sim::see_volatile<store, log2_bytes>(p, HERE); }                   \
    void HOOK(unaligned_volatile_read##bytes)(void* p) { sim::see_range(p, bytes, load, HERE); }                   \
    void HOOK(unaligned_volatile_write##bytes)(void* p) { sim::see_range(p, bytes, store, HERE); }

// Atomic operations of C++ (std::atomic, and the guards of static variables): host code makes them.
#define FETCH(bits, type, operation)                                           \
    type HOOK(atomic##bits##_fetch_##operation)(volatile type* p, type v, int) \
    {                                                                          \
        return __atomic_fetch_##operation(p, v, __ATOMIC_SEQ_CST);             \
    }
#define ATOMICS(bits, type)                                                                                      \
    type HOOK(atomic##bits##_load)(const volatile type* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
    void HOOK(atomic##bits##_store)(volatile type* p, type v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); } \
    type HOOK(atomic##bits##_exchange)(volatile type* p, type v, int)                                            \
    {                                                                                                            \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                      \
    }                                                                                                            \
    FETCH(bits, type, add)                                                                                       \
    FETCH(bits, type, sub)                                                                                       \
    FETCH(bits, type, and)                                                                                       \
    FETCH(bits, type, or)                                                                                        \
    FETCH(bits, type, xor)                                                                                       \
    FETCH(bits, type, nand)                                                                                      \
    int HOOK(atomic##bits##_compare_exchange_strong)(volatile type* p, type* expected, type v, int, int)         \
    {                                                                                                            \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    }                                                                                                            \
    int HOOK(atomic##bits##_compare_exchange_weak)(volatile type* p, type* expected, type v, int, int)           \
    {                                                                                                            \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    }                                                                                                            \
    type HOOK(atomic##bits##_compare_exchange_val)(volatile type* p, type expected, type v, int, int)            \
    {                                                                                                            \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
        return expected;                                                                                         \
    }

extern "C" {

HOOKS(1, 0)
HOOKS(2, 1)
HOOKS(4, 2)
HOOKS(8, 3)
HOOKS(16, 4)

void HOOK(read_range)(void* p, size_t bytes) { sim::see_range(p, bytes, load, HERE); }
void HOOK(write_range)(void* p, size_t bytes) { sim::see_range(p, bytes, store, HERE); }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void HOOK(atomic_thread_fence)(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void HOOK(atomic_signal_fence)(int) {}

// The place and the type that the compiler's own checks (-fsanitize=bounds,alignment) report.
struct CheckedPlace {
    const char* file;
    uint32_t line, column;
};
struct CheckedType {
    uint16_t kind, info;
    char name[1];  // and more, in quotes: g++ writes 'float [4]', clang 'float[4]'
};

// An index of an array whose length the compiler knows is out of bounds.
struct IndexData {
    CheckedPlace place;
    const CheckedType *array, *index;
};

void __ubsan_handle_out_of_bounds(IndexData* data, uintptr_t index)
{
    if (!sim::watching) return;
    const bool is_signed = data->index->kind == 0 && data->index->info & 1;
    const unsigned unused = 64 - std::min(1u << (data->index->info >> 1), 64u);  // bits in front of the index
    const int64_t value = is_signed ? int64_t(index << unused) >> unused : int64_t(index);
    std::string array = data->array->name;
    if (const size_t space = array.find(" ["); space != array.npos) array.erase(space, 1);
    const sim::Spot spot{int(data->place.line), int(data->place.column)};
    sim::Worker::here()->watch().suspect_index(value, array, spot, uint64_t(HERE));
}

// An access through a pointer that is not aligned as its type.
struct AlignmentData {
    CheckedPlace place;
    const CheckedType* type;
    unsigned char log2_alignment, access;
};

// An array of variable length, which only code of the host can have. -fsanitize=vla-bound is on for another reason
// (mk/gcc.mk).
void __ubsan_handle_vla_bound_not_positive(void*, uintptr_t) {}

// A function with a result ends without `return`.
[[noreturn]] void __ubsan_handle_missing_return(void*)
{
    sim::fail("a function ends without return, so its result is undefined", HERE);
}

void __ubsan_handle_type_mismatch_v1(AlignmentData* data, uintptr_t address)
{
    // Checks of other kinds are no accesses.
    enum : unsigned char { whole_load, whole_store, binding, member };
    if (!sim::watching || data->access > member) return;
    sim::Worker& worker = *sim::Worker::here();
    if (worker.threads().fibers().hold(address)) return;  // a GPU allows it in local memory
    const sim::Misaligned reference{address, 1u << data->log2_alignment, data->type->name};
    if (data->access == binding) return worker.watch().note_misaligned(reference);
    worker.watch().refuse_misaligned(reference, data->access == whole_store ? store : load, uint64_t(HERE));
}

void HOOK(init)() {}
void HOOK(func_entry)(void*) {}
void HOOK(func_exit)() {}
void HOOK(vptr_update)(void** p, void*) { sim::see<store, 3>(p, HERE); }
void HOOK(vptr_read)(void** p) { sim::see<load, 3>(p, HERE); }

// memcpy and similar functions. launch.h makes kernels call sim_memcpy, which nvcc turns into copies of bytes, whatever
// the pointers' types. clang calls the other functions to copy structures.
#define COPY(name, copy, see)                            \
    void* name(void* to, const void* from, size_t bytes) \
    {                                                    \
        sim::see(from, bytes, load, HERE);               \
        sim::see(to, bytes, store, HERE);                \
        return copy(to, from, bytes);                    \
    }
#define SET(name, see)                                   \
    void* name(void* to, int value, size_t bytes)        \
    {                                                    \
        sim::see(to, bytes, store, HERE);                \
        return memset(to, value, bytes);                 \
    }
COPY(HOOK(memcpy), memcpy, see_copy)
COPY(HOOK(memmove), memmove, see_copy)
SET(HOOK(memset), see_copy)
COPY(sim_memcpy, memcpy, see_bytes)
COPY(sim_memmove, memmove, see_bytes)
SET(sim_memset, see_bytes)

#define SEEN_AGAIN(bytes, log2_bytes)                                                                   \
    void __asan_load##bytes##_noabort(void* p) { sim::see_again<load, log2_bytes>(p, HERE); }          \
    void __asan_store##bytes##_noabort(void* p) { sim::see_again<store, log2_bytes>(p, HERE); }
SEEN_AGAIN(1, 0)
SEEN_AGAIN(2, 1)
SEEN_AGAIN(4, 2)
SEEN_AGAIN(8, 3)
SEEN_AGAIN(16, 4)
void __asan_loadN_noabort(void* p, size_t bytes) { sim::see_range(p, bytes, load, HERE); }
void __asan_storeN_noabort(void* p, size_t bytes) { sim::see_range(p, bytes, store, HERE); }
void __asan_handle_no_return() {}
void __asan_before_dynamic_init(const void*) {}
void __asan_after_dynamic_init() {}

}  // extern "C"
