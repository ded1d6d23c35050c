// Calls of device code and of CUDA's headers, passed on to the worker that runs the calling thread. Where no
// kernel runs, most of these functions do nothing, so that the same function can be called by the host.

#include "thread.h"

#include <cstdio>
#include <cstdlib>

#include "../../common/base/error.h"
#include "launch.h"
#include "worker.h"

namespace sim {

bool in_kernel() { return watching; }

void access(const void* address, unsigned bytes, Kind kind, const void* place, Strength strength)
{
    if (!watching) return;
    // Programs do not write the fence behind an atomic operation, and hardware does not miss it.
    if (kind == atomic) release(address, true, device_scope, place);
    Worker::here()->called_by(__builtin_frame_address(0)).look(
        uintptr_t(address), site_of(uint64_t(place), kind, unsigned(__builtin_ctz(bytes)), strength) | turn);
    if (kind == atomic) acquire(address, false, place);
}

const Exchange& exchange(uint32_t mask, uint64_t value, const void* place)
{
    return Worker::here()->threads().meet(Threads::values, mask, value, uint64_t(place));
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
    Worker::here()->note_malloc(uintptr_t(piece), bytes, uintptr_t(heap), uint64_t(place));
}

void note_free(void* piece, const void* place) { Worker::here()->note_free(uintptr_t(piece), uint64_t(place)); }

bool shared_offset(const void* address, size_t* offset)
{
    const SharedArray* array =
        watching ? Worker::here()->shared().find(uintptr_t(address), uint64_t(SIM_PLACE)) : nullptr;
    if (array) *offset = uintptr_t(address) - array->begin + array->offset;
    return array;
}

void need_aligned(const void* address, size_t bytes, Kind kind, const void* place)
{
    if (watching && uintptr_t(address) % bytes)
        Worker::here()->refuse_misaligned(uintptr_t(address), kind, "'an asynchronous copy'", unsigned(bytes),
                                          uint64_t(place));
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

void fail(const char* what, const void* place)
{
    if (watching) Worker::here()->fail(Fault::failed, what, uint64_t(place));
    fprintf(stderr, "%s\n", what);
    abort();
}

uint64_t progress()
{
    return ++clock_reads;
}

void pass_turn(const void* place) { Worker::here()->threads().pass_turn(65536, uint64_t(place ? place : SIM_PLACE)); }

void long_loop()
{
    if (!watching) return;
    Worker::here()->settle_index();
    Worker::here()->threads().pass_turn(65536, uint64_t(SIM_PLACE));
}

__thread uintptr_t declared[4];

void declare(uintptr_t array, bool of_kernel)
{
    if (!watching) return;
    Worker::here()->shared().declare(array, of_kernel ? uint64_t(SIM_PLACE) : 0);
    declared[declared_at(array)] = array;
}

}  // namespace sim
