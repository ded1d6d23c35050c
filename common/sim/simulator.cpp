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
#include <tuple>
#include <vector>

#include "../host.h"
#include "launch.h"
#include "rules.h"
#include "simulator.h"

namespace sim {
namespace {

constexpr int max_threads_per_block = 1024;
constexpr size_t stack_bytes = 64 * 1024;

// A range of host addresses; empty at first.
struct Range {
    uintptr_t begin = 0, bytes = 0;
    bool holds(const void* address) const { return uintptr_t(address) - begin < bytes; }
};

// What the running kernel may touch, on this host thread.
struct Allowed {
    Range idata, odata, shared;
    bool load(const void* address) const { return idata.holds(address) || shared.holds(address) || odata.holds(address); }
    bool store(const void* address) const { return odata.holds(address) || shared.holds(address); }
};
thread_local Allowed allowed;

Memory idata_memory{}, odata_memory{};
bool instruments = true;
bool tracing = false;

struct Grid {
    const void* kernel;
    dim3 grid, block;
    void (*threads)(const void* arguments);
    const void* arguments;
    const harness::Machine* machine;
    const Rules* rules;
    Windows* windows;
    uint64_t blocks;
    uint64_t earlier_blocks;           // of earlier launches
    uint64_t chunk;                    // blocks taken at a time
    std::atomic<uint64_t> next_block;  // the first one nobody has taken
};

// One host thread's share of the simulator.
class Worker {
public:
    Worker();
    ~Worker();
    Worker(const Worker&) = delete;

    void start(Grid& grid);
    void run_block(uint64_t block);
    void run_the_rest();

    // Called on a fiber.
    void barrier(Site site);
    __attribute__((hot)) bool next_thread();
    void declare_shared(void* address, size_t bytes);
    void refuse(const void* address, Site site);
    void check_output(const void* address, Site site);

    uint64_t shared_bytes() const;  // that the kernel has declared

    uint64_t barriers = 0;  // of all blocks of this grid
    WarpTrace trace;
    Counter counter;
    Findings findings;
    std::vector<Traced> traced;

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

    void allow_shared(const SharedArray& array);
    void poison_shared();
    // Hot: a compiler takes functions that never return for error handling, to be made small.
    __attribute__((hot)) int advance();
    [[noreturn]] __attribute__((hot)) void go_on(int thread);
    [[noreturn]] __attribute__((hot)) void fiber_start();
    static void enter_fiber();
    [[noreturn]] void start_fiber();
    __attribute__((hot)) void request(const Request& request);
    void keep(const Request& request, Traced::Where where, uintptr_t begin, int units, int partition);
    void open_barrier();

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
    int phase_ = 0;  // barriers that this block has passed
    Site barrier_site_ = 0, other_barrier_site_ = 0;  // that threads wait at; other: 0 if there is no other
    uint64_t block_ = 0;
    uint3 index_[max_threads_per_block];
    State state_[max_threads_per_block];
    Fiber* fiber_of_[max_threads_per_block + 1];  // of a waiting thread; never null

    std::vector<SharedArray> shared_;
    SharedChecker checker_;
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

void Worker::start(Grid& grid)
{
    worker = this;
    stacks = {uintptr_t(stack_pool_), stack_bytes * max_threads_per_block};
    grid_ = &grid;
    threads_ = grid.block.x * grid.block.y * grid.block.z;
    blockDim = grid.block;
    gridDim = grid.grid;
    for (int t = 0; t < threads_; ++t)
        index_[t] = {t % grid.block.x, t / grid.block.x % grid.block.y, t / grid.block.x / grid.block.y};
    allowed.idata = {uintptr_t(idata_memory.begin), uintptr_t(idata_memory.bytes)};
    allowed.odata = {uintptr_t(odata_memory.begin), uintptr_t(odata_memory.bytes)};
    allowed.shared = {};
    for (const SharedArray& array : shared_)
        if (array.kernel == grid.kernel) allow_shared(array);
    barriers = 0;
    counter.start(*grid.rules, *grid.machine, *grid.windows, odata_memory.gpu_address, odata_memory.bytes,
                  grid.earlier_blocks);
}

void Worker::run_the_rest()
{
    for (;;) {
        const uint64_t first = grid_->next_block.fetch_add(grid_->chunk);
        if (first >= grid_->blocks) break;
        for (uint64_t block = first; block < std::min(first + grid_->chunk, grid_->blocks); ++block)
            run_block(block);
    }
    counter.finish(allowed.shared.begin);
}

void Worker::run_block(uint64_t block)
{
    const dim3& grid = grid_->grid;
    blockIdx = {unsigned(block % grid.x), unsigned(block / grid.x % grid.y), unsigned(block / grid.x / grid.y)};
    block_ = block;
    counter.block(block);
    checker_.start_block(block, allowed.shared.begin, allowed.shared.bytes);
    poison_shared();
    std::fill_n(state_, threads_, fresh);
    at_barrier_ = phase_ = 0;
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
            trace.flush([this](const Request& r) {
                if (instruments) request(r);
            });
        if (current_ == threads_) {
            if (at_barrier_ == 0) return nobody;
            open_barrier();
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

// Everyone who is left has arrived.
void Worker::open_barrier()
{
    if (at_barrier_ < threads_ || other_barrier_site_) {
        // Name one that did not come: it has ended, or waits somewhere else.
        int missing = 0;
        while (missing < threads_ - 1 && state_[missing] == waiting) ++missing;
        findings.add({Fault::barrier_not_reached, barrier_site_, other_barrier_site_, missing, at_barrier_, block_, Place::shared, 0, 1});
    }
    ++barriers;
    ++phase_;
    at_barrier_ = 0;
    barrier_site_ = other_barrier_site_ = 0;
    checker_.barrier();
    current_ = nobody;
}

void Worker::barrier(Site site)
{
    trace.end_lane();
    state_[current_] = waiting;
    fiber_of_[current_] = running_;
    running_->frame = static_cast<const char*>(__builtin_frame_address(0));
    if (at_barrier_++ == 0) barrier_site_ = site;
    else if (site != barrier_site_) other_barrier_site_ = site;
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
    const uintptr_t before = allowed.shared.begin;
    allow_shared(shared_.back());
    if (allowed.shared.begin != before) checker_.start_block(block_, allowed.shared.begin, allowed.shared.bytes);
}

// The smallest range that holds all of the kernel's shared arrays.
void Worker::allow_shared(const SharedArray& array)
{
    Range& range = allowed.shared;
    const uintptr_t begin = uintptr_t(array.begin), end = begin + array.bytes;
    if (range.bytes == 0) range = {begin, array.bytes};
    const uintptr_t low = std::min(range.begin, begin), high = std::max(range.begin + range.bytes, end);
    range = {low, high - low};
}

uint64_t Worker::shared_bytes() const
{
    uint64_t bytes = 0;
    for (const SharedArray& array : shared_)
        if (array.kernel == grid_->kernel) bytes += array.bytes;
    return bytes;
}

void Worker::request(const Request& request)
{
    const void* address = reinterpret_cast<const void*>(request.address[__builtin_ctz(request.lanes)]);
    if (allowed.shared.holds(address)) {
        const int units = counter.count(request, shared, 0);
        checker_.check(request, (current_ - 1) / warp_size * warp_size, request.order, findings);
        if (tracing) keep(request, Traced::shared, allowed.shared.begin, units, -1);
    } else {
        const bool input = allowed.idata.holds(address);
        const Memory& memory = input ? idata_memory : odata_memory;
        const uint64_t offset = memory.gpu_address - uintptr_t(memory.begin);
        const int units = counter.count(request, global, offset);
        if (tracing) keep(request, input ? Traced::idata : Traced::odata, uintptr_t(memory.begin), units, counter.partition(uintptr_t(address) + offset));
    }
}

void Worker::keep(const Request& request, Traced::Where where, uintptr_t begin, int units, int partition)
{
    Traced t{request.site, block_, (current_ - 1) / warp_size, phase_, where, request.lanes, {}, units, partition};
    for (int lane = 0; lane < warp_size; ++lane)
        if (request.lanes >> lane & 1) t.offsets.push_back(int64_t(request.address[lane] - begin));
    traced.push_back(std::move(t));
}

// An access that would touch what it must not: it goes on record and does not happen.
void Worker::refuse(const void* address, Site site)
{
    // Relative to the matrix it was probably meant for: the nearest.
    const auto distance = [&](const Range& range) {
        const int64_t from_begin = int64_t(uintptr_t(address) - range.begin);
        return range.bytes == 0 ? INT64_MAX : from_begin < 0 ? -from_begin : std::max<int64_t>(0, from_begin - int64_t(range.bytes));
    };
    const Range* nearest = &allowed.odata;
    for (const Range* range : {&allowed.idata, &allowed.shared})
        if (distance(*range) < distance(*nearest)) nearest = range;
    const Fault fault = uintptr_t(address) % bytes_of(site) ? Fault::misaligned
                        : kind_of(site) == load ? Fault::out_of_bounds_load
                        : allowed.idata.holds(address) ? Fault::store_to_input : Fault::out_of_bounds_store;
    const Place place = nearest == &allowed.shared ? Place::shared : nearest == &allowed.idata ? Place::idata : Place::odata;
    findings.add({fault, site, 0, current_, 0, block_, place,
                  int64_t(uintptr_t(address) - nearest->begin), 1});
}

// A load from the output: it must have been stored to before.
void Worker::check_output(const void* address, Site site)
{
    const harness::Contents* unwritten = odata_memory.unwritten;
    if (!unwritten) return;
    const uint64_t offset = uintptr_t(address) - uintptr_t(odata_memory.begin);
    const uint64_t bytes = harness::bytes_of(unwritten->type);
    for (uint64_t at = offset; at < offset + bytes_of(site); at += bytes) {
        uint64_t found = 0;
        std::memcpy(&found, static_cast<const char*>(address) + (at - offset), bytes);
        const uint64_t poison = bytes == 8 ? unwritten->at<uint64_t>(at / 8) : unwritten->at<uint32_t>(at / 4);
        if (found == poison) findings.add({Fault::uninitialized_output, site, 0, current_, 0, block_, Place::odata, int64_t(at), 1});
    }
}

// The host threads. The caller of run_grid is one of them; the others sleep between grids.
class Pool {
public:
    Pool() { set_active(harness::usable_processors()); }
    ~Pool();

    int active() const { return active_; }
    void set_active(int count);
    void run(Grid& grid);
    Report take_report();
    Windows& windows() { return windows_; }

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
    Windows windows_;
    uint64_t blocks_run_ = 0;  // of all grids
    // Of the last grid.
    uint64_t resident_blocks_ = 0, shared_bytes_ = 0;
    dim3 last_grid_, last_block_;
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
        try {
            auto another = std::make_unique<Worker>();
            const int number = int(workers_.size());
            if (number > 0) threads_.emplace_back(&Pool::serve, this, number, grids_);
            workers_.push_back(std::move(another));
        } catch (...) {
            // A limit of threads or of memory, as shared machines have them: those that there are do.
            if (workers_.empty()) throw;
            break;
        }
    }
    active_ = std::min(count, int(workers_.size()));
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
        own->start(grid);
        own->run_the_rest();
        lock.lock();
        if (--busy_ == 0) finished_.notify_one();
    }
}

void Pool::run(Grid& grid)
{
    Worker& own = *workers_.front();
    grid.earlier_blocks = blocks_run_;
    blocks_run_ += grid.blocks;
    own.start(grid);
    // The first block declares the shared memory, which decides how many blocks run at a time.
    grid.next_block = 1;
    last_grid_ = grid.grid;
    last_block_ = grid.block;
    own.run_block(0);
    shared_bytes_ = own.shared_bytes();
    resident_blocks_ = grid.machine->resident_blocks(grid.block.x * grid.block.y * grid.block.z, shared_bytes_);
    windows_.start(*grid.machine, resident_blocks_, grid.blocks);

    // A handful of blocks is done before another thread has woken up.
    const bool share = active_ > 1 && grid.blocks >= 8 && !tracing;
    if (share) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            grid_ = &grid;
            ++grids_;
            busy_ = active_ - 1;
        }
        wake_.notify_all();
    }
    own.run_the_rest();
    if (share) {
        std::unique_lock<std::mutex> lock(mutex_);
        finished_.wait(lock, [&] { return busy_ == 0; });
    }
}

Report Pool::take_report()
{
    Report report;
    Findings findings;
    for (auto& worker : workers_) {
        for (const SiteCounts& more : worker->counter.sites()) {
            auto same = [&](const SiteCounts& s) { return s.site == more.site && s.space == more.space; };
            auto known = std::find_if(report.sites.begin(), report.sites.end(), same);
            if (known == report.sites.end()) report.sites.push_back(more);
            else known->add(more);
        }
        for (const Finding& finding : worker->findings.list) findings.add(finding);
        report.load_batches += worker->counter.load_batches;
        report.load_lines += worker->counter.load_lines;
        report.store_lines += worker->counter.store_lines;
        worker->counter.load_batches = worker->counter.load_lines = worker->counter.store_lines = 0;
        report.barriers += worker->barriers;
        worker->barriers = 0;
        worker->counter.sites().clear();
        std::move(worker->traced.begin(), worker->traced.end(), std::back_inserter(report.trace));
        worker->traced.clear();
        worker->findings.list.clear();
    }
    std::sort(report.sites.begin(), report.sites.end(), [](const SiteCounts& a, const SiteCounts& b) {
        return std::make_tuple(return_address(a.site), a.space, kind_of(a.site)) < std::make_tuple(return_address(b.site), b.space, kind_of(b.site));
    });
    report.findings = findings.list;
    report.partitions = windows_.totals();
    report.resident_blocks = resident_blocks_;
    report.shared_bytes = shared_bytes_;
    report.grid = last_grid_;
    report.block = last_block_;
    return report;
}

Pool& pool()
{
    static Pool pool;
    return pool;
}

const harness::Machine* machine = &harness::machine_named("h200");

// The record of one access. False if it must not happen.
inline bool record(const void* address, Site site)
{
    if (stacks.hold(address)) return true;
    const auto allows = [&](const void* byte) { return kind_of(site) == load ? allowed.load(byte) : allowed.store(byte); };
    // A vector can hang over the end of a matrix that no element hangs over.
    const bool legal = allows(address) && (bytes_of(site) <= 8 || allows(static_cast<const char*>(address) + bytes_of(site) - 1));
    if (!legal || uintptr_t(address) % bytes_of(site)) {
        worker->refuse(address, site);
        return false;
    }
    if (kind_of(site) == load && allowed.odata.holds(address)) worker->check_output(address, site);
    if (cursor.next == cursor.end) worker->trace.grow();
    cursor.next[0] = uintptr_t(address);
    cursor.next[warp_size] = site;
    cursor.next += words_per_row;
    return true;
}

// What a load that must not happen returns.
template <typename Raw>
Raw nothing()
{
    Raw raw;
    std::memset(&raw, 0xff, sizeof raw);
    return raw;
}

}  // namespace

__attribute__((noinline)) void __syncthreads() { worker->barrier(uint64_t(__builtin_return_address(0))); }

void declare_shared(void* address, size_t bytes) { worker->declare_shared(address, bytes); }

bool next_thread() { return worker->next_thread(); }

void run_grid(const void* kernel, dim3 grid, dim3 block, void (*threads)(const void* arguments),
              const void* arguments)
{
    const uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
    const uint64_t chunk = std::clamp<uint64_t>(blocks / (pool().active() * 64), 1, 256);
    const Rules rules(*machine);
    Grid launched{kernel, grid, block, threads, arguments, machine, &rules, &pool().windows(), blocks, 0, chunk, {0}};
    pool().run(launched);
}

void use_memory(const Memory& idata, const Memory& odata)
{
    idata_memory = idata;
    odata_memory = odata;
}

void use_instruments(bool on) { instruments = on; }

void use_trace(bool on) { tracing = on; }

void use_machine(const harness::Machine& chosen) { machine = &chosen; }

Report take_report() { return pool().take_report(); }

uint64_t Report::accesses() const
{
    uint64_t sum = 0;
    for (const SiteCounts& s : sites) sum += s.lanes;
    return sum;
}

uint64_t Report::requests(Space space, Kind kind) const
{
    uint64_t sum = 0;
    for (const SiteCounts& s : sites)
        if (s.space == space && kind_of(s.site) == kind) sum += s.requests;
    return sum;
}

int host_threads() { return pool().active(); }

void set_host_threads(int count) { pool().set_active(count); }

// The access of this many bytes that the caller of a member function makes.
#define HERE(kind) site_of(uint64_t(__builtin_return_address(0)), kind, __builtin_ctz(sizeof *this))

template <typename Raw>
Value<Raw>::Value(const Value& from)
{
    raw_ = record(&from, HERE(load)) ? from.raw_ : nothing<Raw>();
}

template <typename Raw>
Value<Raw>::operator Raw() const
{
    return record(this, HERE(load)) ? raw_ : nothing<Raw>();
}

template <typename Raw>
Value<Raw>& Value<Raw>::operator=(const Value& from)
{
    // The usual case, which needs no stack frame: between matrices and tiles, with room on record.
    const bool usual = (allowed.idata.holds(&from) || allowed.shared.holds(&from)) && allowed.store(this) &&
                       (uintptr_t(this) | uintptr_t(&from)) % sizeof(Raw) == 0 && cursor.end - cursor.next >= 2 * words_per_row;
    if (!usual) return assign(from, HERE(load), HERE(store));
    raw_ = from.raw_;
    cursor.next[0] = uintptr_t(&from);
    cursor.next[warp_size] = HERE(load);
    cursor.next[words_per_row] = uintptr_t(this);
    cursor.next[words_per_row + warp_size] = HERE(store);
    cursor.next += 2 * words_per_row;
    return *this;
}

template <typename Raw>
Value<Raw>& Value<Raw>::assign(const Value& from, uint64_t loads, uint64_t stores)
{
    const Raw raw = record(&from, loads) ? from.raw_ : nothing<Raw>();
    if (record(this, stores)) raw_ = raw;
    return *this;
}

template <typename Raw>
Value<Raw>& Value<Raw>::operator=(Raw raw)
{
    if (record(this, HERE(store))) raw_ = raw;
    return *this;
}

template <typename Element>
Vector<Element>::Vector(const Vector& from)
{
    if (record(&from, HERE(load))) std::memcpy(static_cast<void*>(this), &from, 16);
    else std::memset(static_cast<void*>(this), 0xff, 16);
}

template <typename Element>
Vector<Element>& Vector<Element>::operator=(const Vector& from)
{
    const bool loads = record(&from, HERE(load));
    if (!record(this, HERE(store))) return *this;
    if (loads) std::memcpy(static_cast<void*>(this), &from, 16);
    else std::memset(static_cast<void*>(this), 0xff, 16);
    return *this;
}

template class Vector<Value<float>>;
template class Vector<Value<double>>;
template class Vector<Value<int>>;

template class Value<float>;
template class Value<double>;
template class Value<int>;

}  // namespace sim
