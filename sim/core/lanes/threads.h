// Runs the threads of a block, one at a time, on fibers of one host thread.
//
// They run in the order of their index, each on the current fiber until it ends or has to wait. A thread that ends
// leaves its fiber to the next, so that a kernel without a barrier needs one fiber for all its threads. A thread that
// waits keeps its fiber, and the next thread gets another.
//
// A thread waits at the barrier of the block, or for lanes of its warp, or because it has been
// running for long. A warp goes on until all of its lanes have ended or are at the barrier; then the
// next one runs. When the last warp has had its turn, the barrier opens and the threads go on, again in
// order: every run of a kernel is the same run.
//
// A barrier does not wait for threads that have left the kernel. It is divergent if those that wait are at different
// places of the source, or if others of their warps have passed it by and come to the end of the kernel. Those that
// left by `return` need not come. Before compute capability 7.0, it waits for all.

#pragma once

#include <cstdint>
#include <vector>

#include "barrier.h"
#include "fibers.h"
#include "launching.h"
#include "requests.h"
#include "rounds.h"
#include "turns.h"
#include "waits.h"

void __syncthreads();

namespace sim {

// Receives the events of a block's threads that its checks and counts depend on.
class ThreadObserver {
public:
    virtual ~ThreadObserver() = default;
    // All lanes of the warp have stopped: what they recorded can be made requests.
    virtual void warp_stopped(int warp) = 0;
    // Every thread that is left has come to the barrier.
    virtual void barrier_opens() = 0;
    // Lanes of a warp have met at __syncwarp().
    virtual void warp_syncs(int warp, uint32_t lanes) = 0;
    virtual void diverge(const Divergence& divergence) = 0;
    // A thread has made more turns of loops than there may be. `stuck`: it would make the same turn for ever.
    // `awaited`: it waits for these arrivals at a barrier in memory.
    virtual void never_ends(uint64_t place, int thread, bool stuck, const Arrivals* awaited) = 0;
    // A hash of what the block's warps stored since this was called before.
    virtual uint64_t changes() = 0;  // 0: nothing
    // The running thread is about to wait or to end, and it was asked for a look before (look_before_waiting).
    virtual void about_to_wait() = 0;
};

class Threads {
public:
    Threads(Columns& columns, ThreadObserver& observer);
    Threads(const Threads&) = delete;

    // The kernel whose blocks are run from now on, and the size of a block. `lockstep`: a barrier waits for threads
    // that have left the kernel, as before compute capability 7.0.
    void start(dim3 block, void (*threads)(const void* arguments), const void* arguments, bool lockstep);
    // Runs a block, with threadIdx set for each thread. blockIdx, blockDim and gridDim are the caller's to set.
    // `alone`: no other host thread changes memory meanwhile.
    void run_block(bool alone);

    // The following functions are called on the fiber of a thread.
    int barrier(int predicate, uint64_t place);
    __attribute__((hot)) bool next_thread();
    [[noreturn]] void end_thread();  // ends the running thread in the middle of the kernel
    enum Meeting : uint8_t { memory, whoever_is_here, values };  // values + sim::Operation
    const Exchange& meet(Meeting meeting, uint32_t mask, uint64_t value, uint64_t place);
    // Counts so many turns of loops, and lets others run.
    void pass_turn(uint64_t turns, uint64_t place, const Arrivals* awaited = nullptr);
    void note_return() { returned_[current_] = true; }  // from a function with a barrier, early
    void look_before_waiting(bool wanted) { looks_ = wanted; }  // at what the running thread has left open

    bool running() const { return current_ != nobody; }
    int current() const { return current_; }   // linear index of the running thread
    int count() const { return threads_; }
    uint32_t warp_lanes() const                // lanes that the running thread's warp has
    {
        const int left = threads_ - current_ / warp_size * warp_size;
        return left >= warp_size ? ~0u : (1u << left) - 1;
    }
    bool has_left(int thread) const { return state_[thread] >= at_end; }
    int barriers_passed() const { return phase_; }
    // The place of the barrier that a thread waits at, or 0.
    uint64_t barrier_of(int thread) const { return state_[thread] == waiting ? waits_at(thread) : 0; }
    bool runs_long() const { return rounds_.any() || yields_; }  // a thread of this block has yielded
    const Fibers& fibers() const { return fibers_; }

private:
    friend void ::__syncthreads();
    enum State : uint8_t { fresh, ready, waiting, parked, yielded, at_end, done };  // at_end: of the kernel
    enum : int { nobody = -1 };

    struct Parked {
        Meeting meeting;
        uint32_t mask;
        uint64_t value, place, turn;
        int result;  // index into results_
    };

    // Hot: a compiler takes functions that never return for error handling, to be made small.
    int advance();
    __attribute__((hot, noinline)) bool find_next();
    [[noreturn]] __attribute__((hot)) void go_on(int thread);
    [[noreturn]] __attribute__((hot)) void fiber_start();
    static void enter_fiber();
    void arrive(uint64_t place)
    {
        if (__builtin_expect(looks_, 0)) observer_.about_to_wait();
        barrier_.arrive(current_, place);
    }
    bool meet_lanes(int first, int last);
    void release(int first, uint32_t lanes, uint32_t took_part);
    void open_barrier();
    void report_differing_barriers();
    void report_missing_thread();
    void report_passed_by();
    uint64_t waits_at(int thread) const;
    bool stuck();
    void take_fibers_back();

    Columns& columns_;
    ThreadObserver& observer_;
    Fibers fibers_;
    std::vector<Fiber*> idle_;
    Fiber* running_ = nullptr;
    void* home_[5];  // where run_block waits for the end of the block

    void (*run_)(const void*) = nullptr;
    const void* arguments_ = nullptr;
    bool lockstep_ = false;
    int threads_ = 0;  // of a block
    int current_ = nobody;
    int warp_end_ = 0;       // of the warp that is running
    bool unsettled_ = false;  // a lane of this warp is parked or has yielded
    bool yields_ = false;     // some thread of the block has yielded
    Barrier barrier_;
    int phase_ = 0;  // barriers that this block has passed
    bool ends_ = false;  // a thread of this block has come to the end of the kernel
    bool over_ = false;    // a thread never ends, so that no other one passes what it would wait for
    bool broken_ = false;  // its threads did not meet where they should: later places follow from that
    uint3 index_[Fibers::most];
    State state_[Fibers::most] = {};
    bool returned_[Fibers::most];
    uint64_t yielded_with_[Fibers::most];  // a hash of a thread's own state
    Fiber* fiber_of_[Fibers::most + 1];  // of a waiting thread; never null
    uint64_t turns_[Fibers::most];       // of long loops, since the block began
    uint64_t patience_ = 0;              // turns that a thread may make; 0 after one was found that never ends
    bool alone_ = true, stuck_ = false;
    bool looks_ = false;                 // see look_before_waiting()
    Rounds rounds_;                      // in which threads of this block yielded
    Parked parked_[Fibers::most];  // of all warps: another one runs while lanes of this one yield and others are parked
    std::vector<Exchange> results_;
};

}  // namespace sim
