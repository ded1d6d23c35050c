#include "threads.h"

#include <algorithm>

#include "places.h"

namespace sim {

__thread uint64_t turn;
__thread bool suspicious;
__thread uint64_t clock_reads;
volatile sig_atomic_t stopping = 0;
__thread uint3 thread_index, block_index;
__thread Dimensions block_size, grid_size;

namespace {

thread_local Threads* here = nullptr;  // on this host thread

}  // namespace

uint64_t& most_turns()
{
    static uint64_t most = uint64_t(1) << 30;
    return most;
}

Threads::Threads(WarpRecord& record, ThreadObserver& observer) : record_(record), observer_(observer)
{
    std::fill(std::begin(fiber_of_), std::end(fiber_of_), &fibers_[0]);
    results_.reserve(warp_size);
}

void Threads::start(dim3 block, void (*threads)(const void* arguments), const void* arguments, bool returned_may_miss)
{
    here = this;
    run_ = threads;
    arguments_ = arguments;
    returned_may_miss_ = returned_may_miss;
    patience_ = most_turns();
    threads_ = int(block.x * block.y * block.z);
    for (int t = 0; t < threads_; ++t) index_[t] = {t % block.x, t / block.x % block.y, t / block.x / block.y};
}

void Threads::run_block(bool alone)
{
    alone_ = alone;
    stuck_ = false;
    rounds_ = 0;
    std::fill_n(state_, threads_, fresh);
    std::fill_n(turns_, threads_, 0);
    at_barrier_ = phase_ = predicates_ = 0;
    barrier_place_ = other_barrier_place_ = 0;
    unsettled_ = yields_ = false;
    current_ = nobody;
    warp_end_ = std::min(warp_size, threads_);
    running_ = nullptr;
    if (__builtin_setjmp(home_) == 0) go_on(advance());
    fibers_.arrive(nullptr);
    current_ = nobody;
}

uint32_t Threads::warp_lanes() const
{
    const int first = current_ / warp_size * warp_size;
    return threads_ - first >= warp_size ? ~0u : (1u << (threads_ - first)) - 1;
}

// Makes the next thread current that can run; nobody at the end of the block.
int Threads::advance()
{
    for (;;) {
        ++current_;
        if (current_ == warp_end_) {
            if (unsettled_ && meet_lanes((warp_end_ - 1) / warp_size * warp_size, warp_end_)) {
                current_ = (warp_end_ - 1) / warp_size * warp_size - 1;
                continue;
            }
            observer_.warp_stopped((warp_end_ - 1) / warp_size);
            if (stopping) return nobody;
            unsettled_ = false;
            if (warp_end_ < threads_) {
                warp_end_ = std::min(warp_end_ + warp_size, threads_);
            } else {
                if (yields_) {
                    stuck_ = stuck();
                    std::replace(state_, state_ + threads_, yielded, ready);
                    yields_ = false;
                } else {
                    if (at_barrier_ == 0) return nobody;
                    open_barrier();
                }
                current_ = nobody;
                warp_end_ = std::min(warp_size, threads_);
                continue;
            }
        }
        if (state_[current_] > ready) continue;
        thread_index = index_[current_];
        record_.begin_lane(current_ % warp_size);
        return current_;
    }
}

// All threads have yielded, or wait, or have ended. Whether everything is as it was when that happened before: the stack of each
// thread, with its registers, and the memory that was stored to in between. The same would happen again, for ever.
bool Threads::stuck()
{
    if (!alone_) return false;
    const uint64_t changes = observer_.changes();
    uint64_t now = hash_of(clock_reads, &phase_, sizeof phase_);
    for (int t = 0; t < threads_; ++t) {
        now = hash_of(now, &state_[t], sizeof state_[t]);
        if (state_[t] != yielded && state_[t] != parked) continue;
        const std::string_view stack = fibers_.stack(*fiber_of_[t]);
        now = hash_of(now, stack.data(), stack.size());
    }
    // In the first round, not all that was stored has been looked at.
    const bool same = ++rounds_ > 1 && now == last_round_ && (!changes || (rounds_ > 2 && changes == last_changes_));
    last_round_ = now;
    last_changes_ = changes;
    return same;
}

// Leaves the running fiber for the one that carries the current thread on.
void Threads::go_on(int thread)
{
    if (thread == nobody) {
        fibers_.leave(running_, nullptr);
        __builtin_longjmp(home_, 1);
    }
    if (state_[thread] == ready) {
        fibers_.leave(running_, fiber_of_[thread]);
        running_ = fiber_of_[thread];
        // Of the fiber after this one, all that matters is the end of its stack, last touched
        // a whole block ago: by the time its turn comes it can be back in the cache.
        const Fiber& next = *fiber_of_[thread + 1];
        __builtin_prefetch(&next);
        for (int line = 0; line < 4; ++line) __builtin_prefetch(next.frame + 64 * line);
        turn = running_->turn;
        __builtin_longjmp(running_->paused, 1);
    }
    turn = 0;
    if (!idle_.empty()) {
        fibers_.leave(running_, idle_.back());
        running_ = idle_.back();
        idle_.pop_back();
        __builtin_longjmp(running_->idle, 1);
    }
    fibers_.start(running_, enter_fiber);
}

void Threads::enter_fiber() { here->fiber_start(); }

void Threads::fiber_start()
{
    __builtin_setjmp(here->running_->idle);
    here->fibers_.arrive(here->running_);
    here->run_(here->arguments_);
    __builtin_unreachable();
}

bool next_thread() { return here->next_thread(); }

bool Threads::next_thread()
{
    if (__builtin_expect(suspicious, 0)) observer_.settle();
    record_.end_lane();
    state_[current_] = returned_ ? done : fell_off;
    returned_ = false;
    const int next = advance();
    if (next != nobody && state_[next] == fresh) {
        turn = 0;
        return true;
    }
    idle_.push_back(running_);
    go_on(next);
}

void Threads::end_thread()
{
    record_.end_lane();
    state_[current_] = done;
    const int next = advance();
    idle_.push_back(running_);  // its frames are left behind
    go_on(next);
}

// Leaves the running thread until it is `ready` again. A macro: what calls setjmp cannot be inlined, and
// every frame on the stack of a thread that waits is one that has to come back into the cache.
#define PAUSE(threads, new_state)                                                         \
    (threads).record_.end_lane();                                                         \
    (threads).state_[(threads).current_] = new_state;                                     \
    (threads).fiber_of_[(threads).current_] = (threads).running_;                         \
    (threads).running_->frame = static_cast<const char*>(__builtin_frame_address(0));     \
    (threads).running_->turn = turn;                                                      \
    if (__builtin_setjmp((threads).running_->paused) == 0) (threads).go_on((threads).advance()); \
    here->fibers_.arrive(here->running_)

int Threads::barrier(int predicate, uint64_t place)
{
    predicates_ += predicate != 0;
    arrive(place);
    PAUSE(*this, waiting);
    return here->barrier_result_;
}

// Compilers make several calls of one barrier.
void Threads::note_other_place(uint64_t place)
{
    if (!other_barrier_place_ && place_number(place) != place_number(barrier_place_)) other_barrier_place_ = place;
}

// Everyone who is left has arrived.
void Threads::open_barrier()
{
    if (at_barrier_ < threads_ || other_barrier_place_) check_barrier();
    ++phase_;
    at_barrier_ = 0;
    barrier_result_ = predicates_;
    predicates_ = 0;
    barrier_place_ = other_barrier_place_ = 0;
    std::replace(state_, state_ + threads_, waiting, ready);
    observer_.barrier_opens();
}

// Names a thread that should have come and did not: it has ended, or waits somewhere else.
void Threads::check_barrier()
{
    int missing = 0;
    while (missing < threads_ && (state_[missing] == waiting || (returned_may_miss_ && state_[missing] == done))) ++missing;
    if (missing == threads_ && !other_barrier_place_) return;
    observer_.barrier_missed(barrier_place_, other_barrier_place_, missing == threads_ ? 0 : missing, at_barrier_);
}

const Exchange& Threads::meet(Meeting meeting, uint32_t mask, uint64_t value, uint64_t place)
{
    parked_[current_] = {meeting, mask & warp_lanes(), value, place, turn, 0};
    unsettled_ = true;
    PAUSE(*this, parked);
    return here->results_[here->parked_[here->current_].result];
}

// No lane of the warp can run. Lets those go on for whom all have come that they wait for. False if
// none do; then some have yielded, or all are at the barrier.
bool Threads::meet_lanes(int first, int last)
{
    uint32_t alive = 0, waits = 0, late = 0;  // not ended; parked; yielded
    for (int t = first; t < last; ++t) {
        const uint32_t lane = 1u << (t - first);
        if (state_[t] < done) alive |= lane;
        if (state_[t] == parked) waits |= lane;
        if (state_[t] == yielded) late |= lane;
    }
    if (!waits) return false;
    // What was recorded so far was recorded before the lanes met.
    observer_.warp_stopped(first / warp_size);
    results_.clear();

    uint32_t go = 0;
    const auto lanes_like = [&](int lane, auto same) {
        uint32_t like = 0;
        for (int l = 0; l < warp_size; ++l)
            if (waits >> l & 1 && !(go >> l & 1) && same(parked_[first + lane], parked_[first + l])) like |= 1u << l;
        return like;
    };
    const auto same_mask = [](const Parked& a, const Parked& b) { return a.meeting == b.meeting && a.mask == b.mask; };
    const auto same_place = [](const Parked& a, const Parked& b) {
        return a.meeting == b.meeting && a.turn == b.turn && (a.place == b.place || place_number(a.place) == place_number(b.place));
    };
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(waits >> lane & 1) || go >> lane & 1 || parked_[first + lane].meeting == whoever_is_here) continue;
        const uint32_t came = lanes_like(lane, same_mask);
        if ((parked_[first + lane].mask & alive) & ~came) continue;
        release(first, came, came);
        go |= came;
    }
    // Whoever is at one place is what is asked for: once nobody else is on the way there.
    for (int lane = 0; lane < warp_size && !go && !late; ++lane) {
        if (!(waits >> lane & 1) || parked_[first + lane].meeting != whoever_is_here) continue;
        const uint32_t came = lanes_like(lane, same_place);
        release(first, came, came);
        go |= came;
    }
    for (int lane = 0; lane < warp_size && !go && !late; ++lane) {
        if (!(waits >> lane & 1)) continue;
        const uint32_t came = lanes_like(lane, [&](const Parked& a, const Parked& b) { return same_mask(a, b) && same_place(a, b); });
        observer_.lanes_missed(parked_[first + lane].place, first + lane, parked_[first + lane].mask, came);
        release(first, came, came);
        go |= came;
    }
    unsettled_ = (waits & ~go) || late;
    return go != 0;
}

void Threads::release(int first, uint32_t lanes, uint32_t took_part)
{
    Exchange exchange{took_part, {}};
    Meeting meeting = values;
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        meeting = parked_[first + lane].meeting;
        exchange.value[lane] = parked_[first + lane].value;
        parked_[first + lane].result = int(results_.size());
        state_[first + lane] = ready;
    }
    results_.push_back(exchange);
    if (meeting == memory) observer_.warp_syncs(first / warp_size, lanes);
}

void Threads::pass_turn(uint64_t turns, uint64_t place)
{
    if (stopping) go_on(nobody);
    turns_[current_] += turns;
    if (turns_[current_] > patience_) {
        patience_ = 0;  // whoever else is still at it ends, too
        observer_.never_ends(place, current_, false);
        end_thread();
    }
    unsettled_ = yields_ = true;
    PAUSE(*this, yielded);
    if (here->stuck_) {
        observer_.never_ends(place, here->current_, true);
        end_thread();
    }
}

}  // namespace sim

void __syncthreads()
{
    using namespace sim;
    Threads& threads = *here;
    threads.arrive(uint64_t(__builtin_return_address(0)));
    PAUSE(threads, Threads::waiting);
}
