// Blocks on host threads, threads on fibers.
//
// A host thread runs one block at a time. The threads of the block run in order of their
// index, each on the fiber at hand until it ends or reaches a barrier. A thread that ends
// leaves its fiber to the next, so that a kernel without a barrier needs one fiber for all
// its threads; one that waits keeps its fiber, and the next thread gets another. When the
// last thread of the block has had its turn, the barrier opens and the waiting ones go on,
// again in order: every run of a kernel is the same run.
//
// A fiber starts with makecontext and from then on switches with the compiler's own setjmp and
// longjmp: a handful of instructions, where swapcontext makes a system call and the C library's
// longjmp looks for cleanup handlers first (and, under _FORTIFY_SOURCE, for an attack).

#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../error.h"
#include "launch.h"
#include "simulator.h"

namespace sim {
namespace {

constexpr int max_threads_per_block = 1024;
constexpr size_t stack_bytes = 64 * 1024;

struct Grid {
    const void* kernel;
    dim3 grid, block;
    void (*threads)(const void* arguments);
    const void* arguments;
    uint64_t blocks;
    uint64_t chunk;                    // blocks taken at a time
    std::atomic<uint64_t> next_block;  // the first one nobody has taken
};

// One host thread's share of the simulator.
class Worker {
public:
    Worker();
    ~Worker();
    Worker(const Worker&) = delete;

    void run(Grid& grid);

    // Called on a fiber.
    void barrier();
    __attribute__((hot)) bool next_thread();
    void declare_shared(void* address, size_t bytes);

    WarpTrace trace;
    Counts counts;

private:
    enum State : uint8_t { fresh, waiting, done };
    enum : int { nobody = -1 };

    // Where a fiber goes on: at a barrier, or in fiber_start for fresh threads.
    struct Fiber {
        void* paused[5];
        void* idle[5];
        const char* frame;  // of the function that waits at the barrier
    };

    struct SharedArray {
        const void* kernel;
        char* begin;
        size_t bytes;
    };

    void run_block(uint64_t block);
    void poison_shared();
    // Hot: a compiler takes functions that never return for error handling, to be made small.
    __attribute__((hot)) int advance();
    [[noreturn]] __attribute__((hot)) void go_on(int thread);
    [[noreturn]] __attribute__((hot)) void fiber_start();
    static void enter_fiber();
    [[noreturn]] void start_fiber();
    void count(const Request& request);

    char* stack_pool_;
    Fiber fiber_[max_threads_per_block];
    size_t fibers_ = 0;  // started so far
    std::vector<Fiber*> idle_;
    Fiber* running_ = nullptr;
    void* home_[5];  // where run_block waits for the end of the block

    Grid* grid_ = nullptr;
    int threads_ = 0;  // of a block
    int current_ = 0;  // the thread that is running
    int at_barrier_ = 0;
    uint3 index_[max_threads_per_block];
    State state_[max_threads_per_block];
    Fiber* fiber_of_[max_threads_per_block + 1];  // of a waiting thread; never null

    std::vector<SharedArray> shared_;
};

thread_local Worker* worker = nullptr;

Worker::Worker()
{
    const size_t bytes = stack_bytes * max_threads_per_block;
    void* pool = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED) throw std::bad_alloc();
    stack_pool_ = static_cast<char*>(pool);
    std::fill(std::begin(fiber_of_), std::end(fiber_of_), &fiber_[0]);
}

Worker::~Worker() { munmap(stack_pool_, stack_bytes * max_threads_per_block); }

void Worker::run(Grid& grid)
{
    worker = this;
    stacks = {uintptr_t(stack_pool_), stack_bytes * max_threads_per_block};
    grid_ = &grid;
    threads_ = grid.block.x * grid.block.y * grid.block.z;
    blockDim = grid.block;
    gridDim = grid.grid;
    for (int t = 0; t < threads_; ++t)
        index_[t] = {t % grid.block.x, t / grid.block.x % grid.block.y, t / grid.block.x / grid.block.y};

    for (;;) {
        const uint64_t first = grid.next_block.fetch_add(grid.chunk);
        if (first >= grid.blocks) break;
        for (uint64_t block = first; block < std::min(first + grid.chunk, grid.blocks); ++block)
            run_block(block);
    }
}

void Worker::run_block(uint64_t block)
{
    const dim3& grid = grid_->grid;
    blockIdx = {unsigned(block % grid.x), unsigned(block / grid.x % grid.y), unsigned(block / grid.x / grid.y)};
    poison_shared();
    std::fill_n(state_, threads_, fresh);
    at_barrier_ = 0;
    current_ = nobody;
    if (__builtin_setjmp(home_) == 0) go_on(advance());
}

// A block must not profit from what an earlier one left in shared memory.
void Worker::poison_shared()
{
    for (const SharedArray& array : shared_)
        if (array.kernel == grid_->kernel) std::memset(array.begin, 0xff, array.bytes);
}

// Ends the turn of the current thread and makes the next one current; nobody at the end of the block.
int Worker::advance()
{
    for (;;) {
        ++current_;
        if (current_ % warp_size == 0 || current_ == threads_)
            trace.flush([this](const Request& request) { count(request); });
        if (current_ == threads_) {
            if (at_barrier_ == 0) return nobody;
            at_barrier_ = 0;  // everyone who is left has arrived
            current_ = nobody;
            continue;
        }
        if (state_[current_] == done) continue;
        threadIdx = index_[current_];
        trace.begin_lane(current_ % warp_size);
        return current_;
    }
}

// Leaves the running fiber for the one that carries the current thread on.
void Worker::go_on(int thread)
{
    if (thread == nobody) __builtin_longjmp(home_, 1);
    if (state_[thread] == waiting) {
        running_ = fiber_of_[thread];
        // Of the fiber after this one, all that matters is the end of its stack, last touched
        // a whole block ago: by the time its turn comes it can be back in the cache.
        const Fiber& next = *fiber_of_[thread + 1];
        __builtin_prefetch(&next);
        for (int line = 0; line < 4; ++line) __builtin_prefetch(next.frame + 64 * line);
        __builtin_longjmp(running_->paused, 1);
    }
    if (!idle_.empty()) {
        running_ = idle_.back();
        idle_.pop_back();
        __builtin_longjmp(running_->idle, 1);
    }
    start_fiber();
}

void Worker::barrier()
{
    trace.end_lane();
    state_[current_] = waiting;
    fiber_of_[current_] = running_;
    running_->frame = static_cast<const char*>(__builtin_frame_address(0));
    ++at_barrier_;
    if (__builtin_setjmp(running_->paused) == 0) go_on(advance());
}

void Worker::enter_fiber() { worker->fiber_start(); }

void Worker::fiber_start()
{
    __builtin_setjmp(running_->idle);
    grid_->threads(grid_->arguments);
    __builtin_unreachable();
}

bool Worker::next_thread()
{
    trace.end_lane();
    state_[current_] = done;
    const int next = advance();
    if (next != nobody && state_[next] == fresh) return true;
    idle_.push_back(running_);
    go_on(next);
}

void Worker::start_fiber()
{
    const size_t i = fibers_++;
    running_ = &fiber_[i];
    char* low = stack_pool_ + i * stack_bytes;
    // A stack that overflows must not run on into its neighbour.
    const size_t page = sysconf(_SC_PAGESIZE);
    mprotect(low, page, PROT_NONE);
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = low + page;
    // Stacks a power of two apart would all compete for the same cache sets: stagger them.
    start.uc_stack.ss_size = stack_bytes - page - i * 7 % 64 * 64;
    start.uc_link = nullptr;
    makecontext(&start, enter_fiber, 0);
    setcontext(&start);
    __builtin_unreachable();
}

void Worker::declare_shared(void* address, size_t bytes)
{
    // Constructors run element by element, in order: grow the array they belong to.
    char* begin = static_cast<char*>(address);
    std::memset(begin, 0xff, bytes);
    if (!shared_.empty() && shared_.back().kernel == grid_->kernel &&
        shared_.back().begin + shared_.back().bytes == begin)
        shared_.back().bytes += bytes;
    else
        shared_.push_back({grid_->kernel, begin, bytes});
}

void Worker::count(const Request& request)
{
    const char* address = reinterpret_cast<const char*>(request.address[__builtin_ctz(request.lanes)]);
    Space space = global;
    for (const SharedArray& array : shared_)
        if (address >= array.begin && address < array.begin + array.bytes) space = shared;
    const Kind kind = kind_of(request.site);
    counts.accesses[space][kind] += request.lanes == ~0u ? warp_size : __builtin_popcount(request.lanes);
    counts.requests[space][kind] += 1;
}

// Those this process may run on, not those the machine has.
int usable_processors()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

// The host threads. The caller of run_grid is one of them; the others sleep between grids.
class Pool {
public:
    Pool() { set_active(usable_processors()); }
    ~Pool();

    int active() const { return active_; }
    void set_active(int count);
    void run(Grid& grid);
    Counts take_counts();

private:
    void serve(int number, uint64_t served);

    std::vector<std::unique_ptr<Worker>> workers_;  // the first is the caller's
    int active_ = 0;                                // so many of them take part
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, finished_;
    Grid* grid_ = nullptr;
    uint64_t grids_ = 0;  // handed out so far
    int busy_ = 0;
    bool stop_ = false;
};

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
        workers_.push_back(std::make_unique<Worker>());
        const int number = int(workers_.size()) - 1;
        if (number > 0) threads_.emplace_back(&Pool::serve, this, number, grids_);
    }
    active_ = count;
}

void Pool::serve(int number, uint64_t served)
{
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return stop_ || grids_ != served; });
        if (stop_) return;
        served = grids_;
        if (number >= active_) continue;
        Worker* own = workers_[number].get();
        Grid& grid = *grid_;
        lock.unlock();
        own->run(grid);
        lock.lock();
        if (--busy_ == 0) finished_.notify_one();
    }
}

void Pool::run(Grid& grid)
{
    // A handful of blocks is done before another thread has woken up.
    const bool share = active_ > 1 && grid.blocks >= 8;
    if (share) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            grid_ = &grid;
            ++grids_;
            busy_ = active_ - 1;
        }
        wake_.notify_all();
    }
    workers_.front()->run(grid);
    if (share) {
        std::unique_lock<std::mutex> lock(mutex_);
        finished_.wait(lock, [&] { return busy_ == 0; });
    }
}

Counts Pool::take_counts()
{
    Counts sum;
    for (auto& worker : workers_) {
        sum.add(worker->counts);
        worker->counts = {};
    }
    return sum;
}

Pool& pool()
{
    static Pool pool;
    return pool;
}

// The record of one access.
inline void record(const void* address, Site site)
{
    if (stacks.hold(address)) return;
    if (cursor.next == cursor.end) worker->trace.grow();
    cursor.next[0] = uintptr_t(address);
    cursor.next[warp_size] = site;
    cursor.next += words_per_row;
}

// The record of an assignment in the general case; kept apart so that the usual one needs no
// stack frame.
template <typename Element>
__attribute__((noinline)) Element& record_both(const Element& from, Site loads, Element& to, Site stores)
{
    record(&from, loads);
    record(&to, stores);
    return to;
}

}  // namespace

void __syncthreads() { worker->barrier(); }

void declare_shared(void* address, size_t bytes) { worker->declare_shared(address, bytes); }

bool next_thread() { return worker->next_thread(); }

void run_grid(const void* kernel, dim3 grid, dim3 block, void (*threads)(const void* arguments),
              const void* arguments)
{
    harness::check_launch(grid.x, grid.y, grid.z, block.x, block.y, block.z);
    const uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
    const uint64_t chunk = std::clamp<uint64_t>(blocks / (pool().active() * 64), 1, 256);
    Grid launched{kernel, grid, block, threads, arguments, blocks, chunk, {0}};
    pool().run(launched);
}

Counts take_counts() { return pool().take_counts(); }

int host_threads() { return pool().active(); }

void set_host_threads(int count) { pool().set_active(count); }

#define HERE(kind) site_of(uint64_t(__builtin_return_address(0)), kind, __builtin_ctz(sizeof(Raw)))

template <typename Raw>
Value<Raw>::Value(const Value& from) : raw_(from.raw_)
{
    record(&from, HERE(load));
}

template <typename Raw>
Value<Raw>::operator Raw() const
{
    record(this, HERE(load));
    return raw_;
}

template <typename Raw>
Value<Raw>& Value<Raw>::operator=(const Value& from)
{
    raw_ = from.raw_;
    if (stacks.hold(&from) || stacks.hold(this) || cursor.end - cursor.next < 2 * words_per_row)
        return record_both(from, HERE(load), *this, HERE(store));
    cursor.next[0] = uintptr_t(&from);
    cursor.next[warp_size] = HERE(load);
    cursor.next[words_per_row] = uintptr_t(this);
    cursor.next[words_per_row + warp_size] = HERE(store);
    cursor.next += 2 * words_per_row;
    return *this;
}

template <typename Raw>
Value<Raw>& Value<Raw>::operator=(Raw raw)
{
    record(this, HERE(store));
    raw_ = raw;
    return *this;
}

template class Value<float>;
template class Value<double>;
template class Value<int>;

}  // namespace sim
