// Calls of device code and of CUDA's headers, passed on to the worker that runs the calling thread. Where no
// kernel runs, most of these functions do nothing, so that the same function can be called by the host.

#include "thread.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "../../../common/base/error.h"
#include "../block/heap.h"
#include "../block/worker.h"

namespace sim {

namespace {

// The next atomic operation, as note_atomic() was told, and the flags of its access.
struct NextAtomic {
    const volatile void* address;
    unsigned flags;
};
thread_local NextAtomic next_atomic{};

unsigned take_flags(const void* address)
{
    const NextAtomic next = std::exchange(next_atomic, {});
    return next.address == address ? next.flags : no_flags;
}

}  // namespace

bool in_kernel() { return watching; }

void access(const void* address, unsigned bytes, Kind kind, const void* place, Strength strength)
{
    if (!watching) return;
    const Caller caller(__builtin_frame_address(0));
    const unsigned flags = kind == atomic ? take_flags(address) : unsigned(no_flags);
    if (kind == atomic) release(address, true, device_scope, place);
    const Site site = site_of(uint64_t(place), kind, unsigned(__builtin_ctz(bytes)), strength) | turn;
    Worker::here()->watch().look({uintptr_t(address) | uint64_t(flags) << above_address, site}, caller);
    // Programs do not write the fence behind an atomic operation, and hardware works without it. The operation itself
    // was compared before: finding another thread's value does not order it after that thread's stores.
    if (kind == atomic && !(flags & unread)) acquire(address, false, place);
}

const Exchange& exchange(uint32_t mask, uint64_t value, const void* place, Operation operation)
{
    const auto meeting = Threads::Meeting(Threads::values + int(operation));
    const Exchange& all = Worker::here()->threads().meet(meeting, mask, value, uint64_t(place));
    Worker::here()->forget_absent();
    return all;
}

void sync_warp(uint32_t mask, const void* place)
{
    Worker::here()->threads().meet(Threads::memory, mask, 0, uint64_t(place));
}

uint32_t converged(const void* place)
{
    return Worker::here()->threads().meet(Threads::whoever_is_here, 0, 0, uint64_t(place)).lanes;
}

int sync_block(int predicate, const void* place)
{
    return Worker::here()->threads().barrier(predicate, uint64_t(place));
}

void fence(Scope scope, const void* place)
{
    if (watching) Worker::here()->note_fence(scope, uint64_t(place));
}

void release(const void* address, bool relaxed, Scope scope, const void* place)
{
    if (watching) Worker::here()->note_release(uintptr_t(address), relaxed, scope, uint64_t(place));
}

void acquire(const void* address, bool relaxed, const void* place)
{
    if (watching) Worker::here()->note_acquire(uintptr_t(address), relaxed, uint64_t(place));
}

void confirm(const void* address, unsigned bytes)
{
    for (unsigned at = 0; at < bytes && watching; at += 4) Worker::here()->note_confirmed(uintptr_t(address) + at);
}

unsigned lane() { return unsigned(Worker::here()->threads().current() % warp_size); }

unsigned rank() { return unsigned(Worker::here()->threads().current()); }

uint32_t live_lanes() { return Worker::here()->threads().warp_lanes(); }

void* dynamic_shared() { return Worker::here() ? Worker::here()->shared().dynamic() : nullptr; }

size_t dynamic_shared_bytes() { return Worker::here()->shared().dynamic_bytes(); }

void note_malloc(void* piece, size_t bytes, void* heap, const void* place)
{
    Worker& worker = *Worker::here();
    if (worker.knows_all())
        note_malloc(uintptr_t(piece), bytes, uintptr_t(heap), uint64_t(place), worker.settings());
}

void note_free(void* piece, const void* place)
{
    Worker& worker = *Worker::here();
    note_free(uintptr_t(piece), uint64_t(place), worker.knows_all(), worker.watch());
}

bool shared_offset(const void* address, size_t* offset)
{
    const SharedArray* array =
        watching ? Worker::here()->shared().find(uintptr_t(address), uint64_t(SIM_PLACE)) : nullptr;
    if (array) *offset = uintptr_t(address) - array->begin + array->gpu_address;
    return array;
}

void need_aligned(const void* address, size_t bytes, Kind kind, const void* place)
{
    if (watching && uintptr_t(address) % bytes)
        Worker::here()->watch().refuse_misaligned(
            {uintptr_t(address), unsigned(bytes), "'an asynchronous copy'"}, kind, uint64_t(place));
}

void copy_async(void* shared, const void* global, unsigned bytes, unsigned zero_filled, const void* place)
{
    const unsigned copied = bytes - zero_filled;
    if (copied) need_aligned(global, bytes, load, place);
    need_aligned(shared, bytes, store, place);
    if (copied) access(global, copied & (copied - 1) ? 4 : copied, load, place);
    access(shared, bytes, store, place);
    __builtin_memcpy(shared, global, copied);
    __builtin_memset(static_cast<char*>(shared) + copied, 0, zero_filled);
}

void local_begins(const volatile void* array, size_t bytes, unsigned cost, bool stored)
{
    if (!watching) return;
    const Caller caller(__builtin_frame_address(0));
    Worker::here()->watch().local_begins({uintptr_t(array), bytes}, {uint64_t(SIM_PLACE), bytes, cost}, stored, caller);
}

void note_atomic(const volatile void* address, bool is_joined, bool is_unread)
{
    next_atomic = {address, (is_joined ? joined : 0u) | (is_unread ? unread : 0u)};
}

void fail(const char* what, const void* place, bool asserted)
{
    if (watching) Worker::here()->watch().fail(kinds::kernel_failed, what, uint64_t(place), asserted);
    fprintf(stderr, "%s\n", what);
    abort();
}

int print(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char* text = nullptr;
    int length = -1;
    const auto prints = watching ? Worker::here()->settings().prints : nullptr;
    if (!prints) {
        length = vprintf(format, arguments);
    } else if ((length = vasprintf(&text, format, arguments)) >= 0) {
        prints(text);
        free(text);
    }
    va_end(arguments);
    return length;
}

uint64_t progress()
{
    return ++clock_reads;
}

void pass_turn(const void* place, const Arrivals* awaited)
{
    Worker::here()->threads().pass_turn(65536, uint64_t(place ? place : SIM_PLACE), awaited);
}

void note_absent(unsigned source, uint32_t mask, bool spare, const void* place)
{
    Worker::here()->note_absent(source, mask, spare, uint64_t(place));
}

}  // namespace sim
