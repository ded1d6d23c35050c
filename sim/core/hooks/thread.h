// The simulated thread that is running, as the headers in sim/cuda/ see it: what CUDA's built-in functions are made of.
//
// These functions are called on the fiber of a simulated thread. `place` is the address in the
// kernel that the call returns to: it stands for the place in the source.

#pragma once

#include <cstddef>
#include <cstdint>

#include "../lanes/kinds.h"
#include "../lanes/waits.h"
#include "../memory/function.h"

namespace sim {

// True if the calling host thread runs a simulated thread now. The functions below need one.
bool in_kernel();

// One access of 1, 2, 4, 8 or 16 bytes, as if the compiler had seen it: checked and recorded. Does
// not return if the thread may not make it. The caller then makes the access.
void access(const void* address, unsigned bytes, Kind kind, const void* place, Strength strength = as_data);

// Hands `value` to the lanes of `mask`, which must all come to this place, and returns what each of
// them handed over. Valid until the thread's next call.
const Exchange& exchange(uint32_t mask, uint64_t value, const void* place, Operation operation = Operation::shuffle);

// Like __syncwarp: the lanes of `mask` meet, and afterwards all of them see what any of them stored before.
void sync_warp(uint32_t mask, const void* place);

// The lanes of the warp that are at this place in the same turn of all loops: __activemask().
uint32_t converged(const void* place);

// The barrier of the block. Returns the number of threads with a predicate that is not 0.
int sync_block(int predicate, const void* place);

// __threadfence() and similar functions: a thread that sees a later atomic store of this one also sees what this one
// did before.
void fence(Scope scope, const void* place);
// Called before an atomic store or operation: hands over what the thread did to each thread that acquires at this
// address. `relaxed`: only what it did before its last fence.
void release(const void* address, bool relaxed, Scope scope, const void* place);
// Called after an atomic load or operation: takes over what was released at this address. `relaxed`: from the thread's
// next fence on.
void acquire(const void* address, bool relaxed, const void* place);
// printf, in device code.
int print(const char* format, ...);
// A compare-and-swap. It compares what an earlier plain load of the same word found, so that this load did no harm.
void confirm(const void* address, unsigned bytes);

// A shuffle reads a lane that takes no part in it, so that CUDA leaves the value open. `spare`: the lane may be one of
// the last in a sum over the warp, whose values nothing uses.
void note_absent(unsigned source, uint32_t mask, bool spare, const void* place);

unsigned lane();      // of the warp, 0 to 31
unsigned rank();      // of the thread in its block: x + y * blockDim.x + z * blockDim.x * blockDim.y
uint32_t live_lanes();  // lanes of this warp that exist, whether they have returned or not

// The shared memory that the launch asked for. Aligned to 1024 bytes.
void* dynamic_shared();
size_t dynamic_shared_bytes();
// True if an address lies in the block's shared memory. `offset`: its distance from the beginning, in bytes.
bool shared_offset(const void* address, size_t* offset);

// Ends the thread with a finding if an asynchronous copy of so many bytes at once cannot begin at the address.
void need_aligned(const void* address, size_t bytes, Kind kind, const void* place);

// Copies from global to shared memory past the registers, as cp.async does: counted as one request of
// its own kind. Bytes from `bytes - zero_filled` on are set to 0 and not read. Done when it returns.
void copy_async(void* shared, const void* global, unsigned bytes, unsigned zero_filled, const void* place);

// Announces an array or a structure of the thread's own. From here on, accesses to it are recorded. `cost`:
// LocalArray in sinks/counter.h. `stored`: it has first values.
SIM_FUNCTION void local_begins(const volatile void* array, size_t bytes, unsigned cost, bool stored);
// Tells something about the next atomic operation, if it goes to this address. `joined`: one lane makes it for all
// (launch.h). `unread`: nothing reads its result (access.h).
SIM_FUNCTION void note_atomic(const volatile void* address, bool joined, bool unread);

// Ends the thread with a finding: "trap", or the text given.
[[noreturn]] void fail(const char* what, const void* place, bool asserted = false);

// A count of this thread's accesses and turns so far: no time, but it never goes back.
uint64_t progress();

// Lets other threads of the block run before this one goes on: __nanosleep(). Counts as much as a loop that is that
// long. `awaited`: what it waits for, at a barrier in memory.
void pass_turn(const void* place = nullptr, const Arrivals* awaited = nullptr);

}  // namespace sim
