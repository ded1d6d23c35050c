// Runs the blocks of a grid, shared by the host threads. In: a launch. Out: all blocks have run, and their counts and
// findings come back.
//
// The first block runs alone. It finds the shared memory of the kernel, which decides how many blocks would run at a
// time on the GPU, and so the windows of the counts. The other host threads, which sleep between grids, then take
// chunks of blocks from a common counter. A grid of few blocks, a traced one and one whose races are looked for is
// run by the caller alone.
//
// Invariant: the report is the same for any number of host threads. Counts are sums, findings are sorted by their
// blocks, and sites by their addresses. The cost of a launch is one wake-up of the sleeping threads.

#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../../common/base/error.h"
#include "../../../common/base/limits.h"
#include "../block/signals.h"
#include "../block/worker.h"
#include "grid.h"
#include "variables.h"

namespace sim {
namespace {

// The host threads. The caller of run_grid is one of them; the others sleep between grids.
class Pool {
    static constexpr size_t stack_bytes = 8 << 20;

public:
    Pool();
    ~Pool();

    int active() const { return active_; }
    int sleeping() const { return int(threads_.size()); }
    void set_active(int count);
    Report run(RunningGrid& grid);
    Windows& windows() { return windows_; }
    uint64_t& blocks_run() { return blocks_run_; }
    Worker& first() { return *workers_.front(); }

private:
    void serve(int number, uint64_t served);
    static void run_the_rest(Worker& worker, RunningGrid& grid);
    void take_counts(Report& report);

    std::vector<std::unique_ptr<Worker>> workers_;  // the first is the caller's
    int active_ = 0;                                // number of workers that take part
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, finished_;
    RunningGrid* grid_ = nullptr;
    uint64_t grids_ = 0;  // handed out so far
    int busy_ = 0;
    bool stop_ = false;
    Windows windows_;
    uint64_t blocks_run_ = 0;  // of all grids
};

Pool::Pool()
{
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);  // host threads allocate once, and little: memory of their own for it would be wasted
#endif
    // `ulimit -s` is the main thread's. The stack of another thread also holds the shared arrays of all kernels.
    pthread_attr_t usual;
    size_t bytes = 0;
    if (pthread_getattr_default_np(&usual) == 0) {
        if (pthread_attr_getstacksize(&usual, &bytes) == 0 && bytes < stack_bytes &&
            pthread_attr_setstacksize(&usual, stack_bytes) == 0)
            pthread_setattr_default_np(&usual);
        pthread_attr_destroy(&usual);
    }
    set_active(harness::usable_processors());
}

Pool::~Pool()
{
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Pool::set_active(int count)
{
    while (int(workers_.size()) < count) {
        try {
            auto another = std::make_unique<Worker>();
            const int number = int(workers_.size());
            if (number > 0) threads_.emplace_back(&Pool::serve, this, number, grids_);
            workers_.push_back(std::move(another));
        } catch (...) {
            // Shared machines limit threads or memory. The grid then runs on the threads that could be started.
            if (workers_.empty()) throw;
            break;
        }
    }
    active_ = std::min(count, int(workers_.size()));
}

void Pool::serve(int number, uint64_t served)
{
    const harness::NoWayOut no_way_out;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return stop_ || grids_ != served; });
        if (stop_) return;
        served = grids_;
        if (number >= active_) continue;
        Worker* own = workers_[number].get();
        RunningGrid& grid = *grid_;
        lock.unlock();
        catch_signals();
        own->start(grid);
        run_the_rest(*own, grid);
        lock.lock();
        if (--busy_ == 0) finished_.notify_one();
    }
}

// Runs blocks that no host thread has taken yet.
void Pool::run_the_rest(Worker& worker, RunningGrid& grid)
{
    const auto block_done = grid.settings->block_done;
    for (;;) {
        const uint64_t first = grid.next_block.fetch_add(grid.chunk);
        if (first >= grid.blocks || grid.over()) break;
        for (uint64_t block = first; block < std::min(first + grid.chunk, grid.blocks) && !grid.over(); ++block) {
            worker.run_block(block);
            const uint64_t done = ++grid.done;
            if (block_done) block_done(done, grid.blocks);
        }
    }
    worker.finish();
}

Report Pool::run(RunningGrid& grid)
{
    Worker& own = *workers_.front();
    grid.earlier_blocks = blocks_run_;
    blocks_run_ += grid.all_blocks;
    catch_signals();
    own.start(grid);
    // The first block finds the shared memory, which decides how many blocks run at a time. It has the whole L1.
    grid.l1_share = grid.machine->l1_bytes;
    grid.next_block = 1;
    own.run_block(0);
    grid.done = 1;
    const unsigned threads = grid.block.x * grid.block.y * grid.block.z;
    const harness::Occupancy occupancy =
        grid.machine->occupancy(int(threads), own.shared().static_bytes() + own.shared().dynamic_bytes());
    Report report;
    report.grid = grid.grid;
    report.block = grid.block;
    report.resident_blocks = occupancy.blocks * uint64_t(grid.machine->sms);
    grid.l1_share = grid.machine->l1_bytes / occupancy.blocks - std::min(
        grid.machine->l1_bytes / occupancy.blocks, occupancy.shared_bytes);
    windows_.start(*grid.machine, report.resident_blocks, grid.blocks);

    // A handful of blocks is done before another thread has woken up.
    const Settings& settings = *grid.settings;
    const bool share = active_ > 1 && grid.blocks >= 8 && !settings.trace && !settings.exact && !settings.alone;
    grid.alone = !share;
    if (share) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            grid_ = &grid;
            ++grids_;
            busy_ = active_ - 1;
        }
        wake_.notify_all();
    }
    run_the_rest(own, grid);
    if (share) {
        std::unique_lock<std::mutex> lock(mutex_);
        finished_.wait(lock, [&] { return busy_ == 0; });
    }
    take_counts(report);
    const uint64_t warps = (threads + warp_size - 1) / warp_size;
    report.launched = {1, grid.blocks, grid.blocks * warps, warps * report.barriers};
    return report;
}

void Pool::take_counts(Report& report)
{
    std::vector<Fault> found;
    for (auto& worker : workers_) {
        Counter& counter = worker->sinks().counter();
        report.add_sites(counter.sites());
        counter.sites().clear();
        report.output_stored += std::exchange(counter.output_stored, 0);
        report.unordered_possible |= std::exchange(counter.unordered_possible, false);
        report.roofline.add(std::exchange(worker->sinks().roofline(), {}));
        found.insert(found.end(), worker->faults.list.begin(), worker->faults.list.end());
        worker->faults.list.clear();
        report.ended |= worker->faults.ended != 0;
        report.barriers += std::exchange(worker->barriers, 0);
        report.shared_bytes = std::max(report.shared_bytes, std::exchange(worker->most_shared_bytes, 0));
    }
    report.keep_local_memory();
    // Findings are sorted into the order in which one host thread would have found them.
    std::stable_sort(found.begin(), found.end(), [](const Fault& a, const Fault& b) { return a.block < b.block; });
    Faults faults;
    for (const Fault& fault : found) faults.add(fault);
    report.faults = faults.list;
    report.partitions = windows_.take_totals();
    report.peers = windows_.take_peers();
}

Pool& pool()
{
    static Pool pool;
    return pool;
}

}  // namespace

Report run_grid(const Launching& launching, const Code& code, const Settings& settings)
{
    add_device_variables(settings.exact);
    const dim3 grid = launching.configuration.grid;
    const harness::Machine* const machine = settings.machine ? settings.machine : &harness::machine_named("h200");
    const uint64_t all_blocks = uint64_t(grid.x) * grid.y * grid.z, sample = settings.sample;
    const Rules rules(*machine);
    RunningGrid launched{&launching, &code, &settings, machine, &rules, &pool().windows()};
    launched.grid = grid;
    launched.block = launching.configuration.block;
    launched.all_blocks = all_blocks;
    launched.blocks = sample ? std::min(sample, all_blocks) : all_blocks;
    launched.chunk = std::clamp<uint64_t>(launched.blocks / (pool().active() * 64), 1, 256);
    const harness::NoWayOut no_way_out;  // no exception may leave: fibers and other host threads use what is here
    return pool().run(launched);
}

uint64_t blocks_run() { return pool().blocks_run(); }

void count_a_copy() { ++pool().blocks_run(); }

GlobalChecker& begin_copy(uint64_t block, const std::vector<Beside>& beside)
{
    return pool().first().begin_copy(block, beside);
}

int host_threads() { return pool().active(); }

int sleeping_threads() { return pool().sleeping(); }

void set_host_threads(int count) { pool().set_active(count); }

}  // namespace sim
