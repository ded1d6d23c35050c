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

#include <csignal>
#include <cstdint>
#include <vector>

#include "fibers.h"
#include "launch.h"
#include "requests.h"

void __syncthreads();

namespace sim {

// Threads that wait at one place.
struct Waiting {
    uint64_t place;
    int first;  // of these threads
    int count;
};

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
    // Threads wait at different barriers: some where the first of them does, most of the others at the second place,
    // and so many elsewhere.
    virtual void barriers_differ(const Waiting& first, const Waiting& second, int elsewhere) = 0;
    // A thread has left the kernel, and this machine's barrier waits for it.
    virtual void barrier_missed(uint64_t place, int missing) = 0;
    // Threads wait at a barrier, and others of their warps have passed it by.
    virtual void barrier_passed_by(const Waiting& here, const Waiting& missing) = 0;
    // Lanes wait for others that never come. `missing`: the first of those, and others that wait at the same place.
    virtual void lanes_missed(uint64_t place, int thread, uint32_t mask, uint32_t came, const Waiting& missing) = 0;
    // The mask of a lane names another one that comes with another mask, or lacks its own bit (`other` is `thread`).
    virtual void mask_differs(uint64_t place, int thread, uint32_t mask, int other, uint32_t other_mask) = 0;
    // A thread has made more turns of loops than there may be. `stuck`: it would make the same turn for ever.
    // `awaited`: it waits for these arrivals at a barrier in memory.
    virtual void never_ends(uint64_t place, int thread, bool stuck, const Arrivals* awaited) = 0;
    // A hash of what the block's warps stored since this was called before.
    virtual uint64_t changes() = 0;  // 0: nothing
    // The running thread is about to wait.
    virtual void settle() = 0;
};

extern __thread bool suspicious;  // an index of the running thread is (Worker::suspect_index)

class Threads {
public:
    Threads(WarpRecord& record, ThreadObserver& observer);
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

    bool running() const { return current_ != nobody; }
    int current() const { return current_; }   // linear index of the running thread
    int count() const { return threads_; }
    uint32_t warp_lanes() const;                // lanes that the running thread's warp has
    bool has_left(int thread) const { return state_[thread] >= at_end; }
    int barriers_passed() const { return phase_; }
    // The place of the barrier that a thread waits at, or 0.
    uint64_t barrier_of(int thread) const { return state_[thread] == waiting ? waits_at(thread) : 0; }
    bool runs_long() const { return rounds_ > 0 || yields_; }  // a thread of this block has yielded
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
        if (__builtin_expect(suspicious, 0)) observer_.settle();
        if (at_barrier_++ == 0) barrier_place_ = place;
        else if (place != barrier_place_) note_other_place(place);
    }
    void note_other_place(uint64_t place);
    bool meet_lanes(int first, int last);
    void release(int first, uint32_t lanes, uint32_t took_part);
    void open_barrier();
    void report_differing_barriers();
    void report_missing_thread();
    void report_passed_by();
    uint64_t waits_at(int thread) const;
    bool stuck();

    WarpRecord& record_;
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
    int at_barrier_ = 0;
    int predicates_ = 0, barrier_result_ = 0;
    int phase_ = 0;  // barriers that this block has passed
    bool ends_ = false;  // a thread of this block has come to the end of the kernel
    bool broken_ = false;  // its threads did not meet where they should: later places follow from that
    uint64_t barrier_place_ = 0;  // that threads wait at
    struct Elsewhere {
        int thread;
        uint64_t place;
    };
    std::vector<Elsewhere> elsewhere_;  // threads that wait at another barrier
    uint3 index_[Fibers::most];
    State state_[Fibers::most];
    bool returned_[Fibers::most];
    uint64_t yielded_with_[Fibers::most];  // a hash of a thread's own state
    Fiber* fiber_of_[Fibers::most + 1];  // of a waiting thread; never null
    uint64_t turns_[Fibers::most];       // of long loops, since the block began
    uint64_t patience_ = 0;              // turns that a thread may make; 0 after one was found that never ends
    bool alone_ = true, stuck_ = false;
    int rounds_ = 0;           // in which threads of this block yielded
    // seen_: a hash of all stacks at the end of an earlier round. since_: the rounds since then. kept_for_: how many
    // rounds it is kept for. period_: after how many rounds the stacks were the same. changes_: a hash of what was
    // stored meanwhile.
    uint64_t seen_ = 0, since_ = 0, kept_for_ = 1, period_ = 0, changes_ = 0;
    Parked parked_[Fibers::most];  // of all warps: another one runs while lanes of this one yield and others are parked
    std::vector<Exchange> results_;
};

// threadIdx and the other indices, which are constants for the kernels in launch.h and can be set here.
extern __thread uint3 thread_index asm("threadIdx"), block_index asm("blockIdx");
extern __thread Dimensions block_size asm("blockDim"), grid_size asm("gridDim");

// Set by a signal: running kernels then end in the middle, as soon as a warp stops or a loop has been long.
extern volatile sig_atomic_t stopping;

// Times that this host thread's simulated threads have looked at the clock.
extern __thread uint64_t clock_reads;

// A loop may make so many turns in one thread before it is taken for endless.
uint64_t& most_turns();

}  // namespace sim
