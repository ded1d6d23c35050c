// A host thread while it runs a block: its threads, their shared memory, and the sinks that take their
// requests.
//
// The simulated thread that runs calls Worker::here() for what CUDA's built-in functions are made of.

#pragma once

#include <cstdint>

#include "../sinks/faults.h"
#include "../lanes/threads.h"
#include "../memory/shared_memory.h"
#include "../sinks/order.h"
#include "../sinks/sinks.h"
#include "changes.h"
#include "doubts.h"
#include "running_grid.h"
#include "watch.h"

namespace sim {

// True while a simulated thread runs on this host thread.
extern __thread bool watching;

class Worker : private ThreadObserver {
public:
    Worker();
    Worker(const Worker&) = delete;
    static Worker* here();  // of this host thread, while it runs blocks

    void start(RunningGrid& grid);
    void run_block(uint64_t number);  // among the blocks that run
    void finish();                    // no more blocks follow
    GlobalChecker& begin_copy(uint64_t block, const std::vector<Beside>& beside);  // no kernel runs

    Threads& threads() { return threads_; }
    SharedMemory& shared() { return shared_; }
    Watch& watch() { return watch_; }
    Sinks& sinks() { return sinks_; }
    const Settings& settings() const { return *grid_->settings; }
    // True if no other host thread runs blocks of this grid, and races are looked for.
    bool knows_all() const { return settings().exact && grid_->alone; }

    // Events of the running thread, written down among its accesses.
    void note_fence(Scope scope, uint64_t place);
    void note_release(uintptr_t address, bool relaxed, Scope scope, uint64_t place);
    void note_acquire(uintptr_t address, bool relaxed, uint64_t place);
    void note_confirmed(uintptr_t address) { order_.confirm(threads_.current(), address); }
    // A shuffle reads the value of a lane that takes no part in it. `spare`: doubts.h.
    void note_absent(unsigned source, uint32_t mask, bool spare, uint64_t place);
    void forget_absent() { doubts_.forget(threads_.current()); }

    // Since they were last taken. most_shared_bytes: of a block.
    Faults faults;
    uint64_t barriers = 0, most_shared_bytes = 0;

private:
    void warp_stopped(int warp) override;
    void barrier_opens() override;
    void warp_syncs(int warp, uint32_t lanes) override { order_.meet(warp, lanes); }
    void diverge(const Divergence& divergence) override;
    void never_ends(uint64_t place, int thread, bool stuck, const Arrivals* awaited) override;
    uint64_t changes() override { return changes_.take(); }
    void about_to_wait() override { watch_.settle_index(); }
    template <typename Event>
    void note_event(uint64_t place, Event event);

    RunningGrid* grid_ = nullptr;
    uint64_t block_ = 0;  // in the grid
    Columns columns_;
    Threads threads_;
    SharedMemory shared_;
    Order order_;
    Sinks sinks_;
    Watch watch_;
    Doubts doubts_;
    Changes changes_;
};

}  // namespace sim
