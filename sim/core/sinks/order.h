// Events that order two accesses of different threads: barriers of the block, lanes of
// a warp that met, and what one thread hands over to another through memory. A thread that releases
// at an address hands over all that happened before; one that acquires there afterwards takes over.
//
// Requests are formed late, so every access carries a time: that of its thread's last event before it. Events, barriers
// and beginnings of blocks are numbered as they happen. An access lies before an event of its own thread, or before a
// barrier of its block, if its time is less.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../lanes/access.h"
#include "../lanes/waits.h"

namespace sim {

// When and by whom an access was made.
struct Moment {
    uint64_t block;  // counted over all launches, from 1
    uint32_t time;
    int thread;      // of the block
};

class Order {
public:
    // `first_block`: the number of the launch's first block less 1. `lockstep`: the lanes of a warp need nothing to
    // order them. `across_blocks`: what blocks hand over to each other is kept.
    void start_launch(uint64_t first_block, bool lockstep, bool across_blocks);
    void start_block(uint64_t block);
    void barrier();

    // Events. Those of a thread return their time, or 0 if nothing depends on them.
    void meet(int warp, uint32_t lanes);
    uint32_t fence(int thread, Scope scope);
    // Hands over what the thread did before its last fence or, with `all`, everything that it did.
    uint32_t release(int thread, uintptr_t address, bool all, Scope scope);
    // Takes over what was released at the address: at once or, if that needs a fence, at the thread's next one.
    uint32_t acquire(int thread, uintptr_t address, bool needs_fence);
    // The thread has compared what it knew of this word with what is there: an earlier plain load did no harm.
    void confirm(int thread, uintptr_t address);
    bool confirmed(uint64_t block, int thread, uintptr_t address) const;

    // The time of each lane's last event. It is written while requests are formed. The time of an access is phase() if
    // this is later.
    uint32_t* times(int warp) { return &times_[warp * warp_size]; }
    uint32_t phase() const { return phase_; }  // the last barrier, or else the beginning of this block
    bool eventful() const { return clock_ != phase_; }  // true if there were events since phase()
    bool orders_threads() const { return eventful() || lockstep_; }  // true if that, or the machine, may order threads
    uint32_t block_start() const { return block_start_; }
    uint32_t launch_start() const { return launch_start_; }
    uint64_t block() const { return block_; }
    uint64_t first_block() const { return first_block_; }
    // The block that ran at a time of this launch. For a time of an earlier launch: the first block of that launch.
    uint64_t block_at(uint32_t time) const;
    // True if nothing that this block did before the time has been, or will be, handed over to other blocks: it has
    // ended.
    bool silent_since(uint64_t block, uint32_t time) const;

    // True if an access of this launch happens before one of this block since the last barrier.
    bool happens_before(const Moment& a, const Moment& b) const;
    // True if either access happens before the other.
    bool ordered(const Moment& a, const Moment& b) const;
    // True if both threads, or an earlier block and a thread, use one word as a signal would be used, other than this
    // one. It does not order them, so it is for advice alone.
    bool signals(const Moment& a, const Moment& b, uintptr_t address) const;

private:
    struct Release {
        uint64_t block;
        uint32_t phase, time;
        uint32_t seen,
            seen_by_device;  // what its thread did before these times is handed over: to the block, to others
        int thread;
        const uint32_t* known;          // of the lanes of its warp, as below; null if none have met
    };
    struct Object {
        std::vector<Release> releases;                  // in the order of time
        std::unordered_map<int, uint32_t> last_acquire[2];  // by thread; the second: those that need a fence
    };
    struct Acquire {
        uintptr_t address;
        uint32_t time;
        int thread;
        bool needs_fence;
    };
    struct Fence {
        uint32_t time;
        int thread;
        bool device;
    };
    struct Log {  // of a block
        uint64_t block;
        uint32_t last_release;  // to other blocks
        std::vector<Acquire> acquires;
        std::vector<Fence> fences;
    };
    // known[t][u]: lane t knows of everything that lane u did before this time.
    struct Lanes {
        uint32_t known[warp_size][warp_size] = {};
        uint32_t last_meeting = 0;
    };
    // The end of a chain of releases and acquires so far: what its thread knows at a time.
    struct View {
        uint64_t block;
        uint32_t phase, time;
        int thread;
        const uint32_t* known;
    };
    static bool met(const View& view, int other, uint32_t after)
    {
        return view.known && view.thread / warp_size == other / warp_size && view.known[other % warp_size] > after;
    }
    const uint32_t* known_now(int thread) const;
    void note_signal(int thread, uintptr_t address);

    bool handed_over(const Moment& a, const Moment& b) const;
    void forget();
    bool covers(const Release& release, const Moment& a, uint64_t to_block) const;
    bool fenced(const View& until, int thread, uint32_t after, bool device) const;
    const Log* log_of(uint64_t block) const;

    uint64_t first_block_ = 0, block_ = 0;
    uint32_t clock_ = 1, launch_start_ = 1, block_start_ = 1, phase_ = 1;
    struct Start {
        uint32_t time;
        uint64_t block;
    };
    std::vector<Start> starts_;  // of the blocks of this launch, and of the first ones of earlier launches
    size_t launch_ = 0;          // index of this launch's first block in starts_
    bool lockstep_ = false, across_blocks_ = false;
    std::vector<uint32_t> times_ = std::vector<uint32_t>(1024);
    std::vector<uint32_t> last_fence_ = std::vector<uint32_t>(1024), last_device_fence_ = last_fence_;
    bool fences_ = false;  // true if there were any in this block
    std::vector<std::unique_ptr<Lanes>> lanes_;
    std::unordered_map<uintptr_t, Object> objects_;
    std::deque<std::array<uint32_t, warp_size>> knowledge_;  // of lanes that released
    std::deque<Log> logs_;  // the last one is this block's
    std::unordered_set<uint64_t> confirmed_;
    struct Signal {
        uintptr_t address;
        uint64_t first_block, last_block;
    };
    Signal signals_[64] = {};  // by hash; one that came later replaces another
    struct {
        uintptr_t address;
        uint64_t block;
    } last_signal_[1024] = {};  // by thread
};

}  // namespace sim
