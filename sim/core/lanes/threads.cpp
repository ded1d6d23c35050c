// Turns of threads. In: a kernel and the size of its block. Out: every thread has run to its end, and the observer
// knows of each warp that stopped and of each barrier.
//
// advance() picks the next thread that can run, in the order of the index. At the end of a warp, lanes that wait for
// each other are let meet, and the warp runs again as long as any can. Then the warp has stopped, and its accesses
// become requests. At the end of the last warp, either threads that have been long in a loop go on, or the barrier
// opens, or the block is done. go_on() leaves the running fiber for that of the chosen thread.
//
// Invariant: one thread runs at a time, and the others are fresh, ready, done, or wait at a known place. A block is
// found to hang if rounds of turns bring back all stacks, registers and memory. The cost of a switch is a few
// instructions; the meeting of lanes is at most quadratic in the lanes of a warp.

#include "threads.h"

#include <algorithm>

#include "../../../common/base/hash.h"
#include "../../elf/places.h"

namespace sim {

namespace {

thread_local Threads* here = nullptr;  // on this host thread

}  // namespace

Threads::Threads(Columns& columns, ThreadObserver& observer) : columns_(columns), observer_(observer)
{
    std::fill(std::begin(fiber_of_), std::end(fiber_of_), &fibers_[0]);
    results_.reserve(warp_size);
}

void Threads::start(dim3 block, void (*threads)(const void* arguments), const void* arguments, bool lockstep)
{
    here = this;
    run_ = threads;
    arguments_ = arguments;
    lockstep_ = lockstep;
    patience_ = most_turns();
    threads_ = int(block.x * block.y * block.z);
    for (int t = 0; t < threads_; ++t) index_[t] = {t % block.x, t / block.x % block.y, t / block.x / block.y};
}

void Threads::run_block(bool alone)
{
    alone_ = alone;
    stuck_ = false;
    rounds_ = Rounds();
    std::fill_n(state_, threads_, fresh);
    std::fill_n(returned_, threads_, false);
    std::fill_n(turns_, threads_, 0);
    phase_ = 0;
    barrier_.start();
    unsettled_ = yields_ = ends_ = broken_ = over_ = false;
    current_ = nobody;
    warp_end_ = std::min(warp_size, threads_);
    running_ = nullptr;
    if (__builtin_setjmp(home_) == 0) go_on(advance());
    fibers_.arrive(nullptr);
    current_ = nobody;
    if (over_) take_fibers_back();
}

// Those of threads that wait for what never comes. Their frames are left behind.
void Threads::take_fibers_back()
{
    for (int t = 0; t < threads_; ++t)
        if (state_[t] != fresh && state_[t] < at_end) idle_.push_back(fiber_of_[t]);
}

// Makes the next thread that can run the current one, or `nobody` at the end of the block.
inline __attribute__((always_inline)) int Threads::advance()
{
    ++current_;  // most often, this one can run
    if ((current_ == warp_end_ || state_[current_] > ready) && !find_next()) return nobody;
    built_ins->thread = index_[current_];
    columns_.begin_lane(unsigned(current_) % warp_size);
    return current_;
}

// The same for a current thread that cannot run, or that is of the next warp. False at the end of the block.
bool Threads::find_next()
{
    for (;; ++current_) {
        if (current_ == warp_end_) {
            if (unsettled_ && !over_ && meet_lanes((warp_end_ - 1) / warp_size * warp_size, warp_end_)) {
                current_ = (warp_end_ - 1) / warp_size * warp_size - 1;
                continue;
            }
            observer_.warp_stopped((warp_end_ - 1) / warp_size);
            if (stopping) return false;
            unsettled_ = false;
            if (warp_end_ < threads_) {
                warp_end_ = std::min(warp_end_ + warp_size, threads_);
            } else {
                if (over_) return false;
                if (yields_) {
                    over_ = stuck_ = stuck();
                    std::replace(state_, state_ + threads_, yielded, ready);
                    yields_ = false;
                } else {
                    if (barrier_.arrived() == 0) return false;
                    open_barrier();
                }
                current_ = nobody;
                warp_end_ = std::min(warp_size, threads_);
                continue;
            }
        }
        if (state_[current_] <= ready) return true;
    }
}

// All threads have yielded, or wait, or have ended. True if everything is as it was at an earlier such time.
bool Threads::stuck()
{
    if (!alone_) return false;
    uint64_t now = harness::hash_of(clock_reads, &phase_, sizeof phase_);
    for (int t = 0; t < threads_; ++t) {
        now = harness::hash_of(now, &state_[t], sizeof state_[t]);
        if (state_[t] == yielded) now = harness::hash_of(now, &yielded_with_[t], sizeof yielded_with_[t]);
        if (state_[t] != parked) continue;
        const std::string_view stack = fibers_.stack(fibers_.stack_pointer(*fiber_of_[t]));
        now = harness::hash_of(now, stack.data(), stack.size());
    }
    return rounds_.come_back(now, [this] { return observer_.changes(); });
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
        // The next fiber begins at the end of its stack, which was last touched a whole block ago: by the time its turn
        // comes it can be back in the cache.
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
    if (__builtin_expect(looks_, 0)) observer_.about_to_wait();
    columns_.end_lane();
    state_[current_] = end_of_kernel && !returned_[current_] ? at_end : done;
    ends_ |= state_[current_] == at_end;
    end_of_kernel = 0;
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
    columns_.end_lane();
    state_[current_] = done;
    const int next = advance();
    idle_.push_back(running_);  // its frames are left behind
    go_on(next);
}

// Leaves the running thread until it is `ready` again. A macro: what calls setjmp cannot be inlined, and
// every frame on the stack of a thread that waits is one that has to come back into the cache.
#define PAUSE(threads, new_state) \
    (threads).columns_.end_lane(); \
    (threads).state_[(threads).current_] = new_state; \
    (threads).fiber_of_[(threads).current_] = (threads).running_; \
    (threads).running_->frame = static_cast<const char*>(__builtin_frame_address(0)); \
    (threads).running_->turn = turn; \
    if (__builtin_setjmp((threads).running_->paused) == 0) (threads).go_on((threads).advance()); \
    here->fibers_.arrive(here->running_)

int Threads::barrier(int predicate, uint64_t place)
{
    barrier_.add(predicate);
    arrive(place);
    PAUSE(*this, waiting);
    return here->barrier_.predicates();
}

// All threads that have not left the kernel have arrived.
void Threads::open_barrier()
{
    if (!barrier_.one_place()) report_differing_barriers();
    else if (lockstep_ && barrier_.arrived() < threads_) report_missing_thread();
    else if (ends_ && !broken_) report_passed_by();
    ++phase_;
    barrier_.open();
    std::replace(state_, state_ + threads_, waiting, ready);
    observer_.barrier_opens();
}

void Threads::report_differing_barriers()
{
    const auto groups = barrier_.groups(threads_, [this](int thread) { return state_[thread] == waiting; });
    const auto fewer = [](const Waiting& a, const Waiting& b) { return a.count < b.count; };
    const Waiting& second = *std::max_element(groups.begin() + 1, groups.end(), fewer);
    const int elsewhere = barrier_.arrived() - groups[0].count - second.count;
    observer_.diverge({Divergence::barriers_differ, groups[0], second, 0, 0, elsewhere});
    broken_ = true;
}

void Threads::report_missing_thread()
{
    const auto left = [](State state) { return state >= at_end; };
    const int missing = int(std::find_if(state_, state_ + threads_, left) - state_);
    observer_.diverge({Divergence::barrier_missed, {barrier_.place(), missing, 1}});
}

void Threads::report_passed_by()
{
    const Waiting missing = passed_by(threads_, [this](int thread) { return state_[thread] == waiting; },
                                      [this](int thread) { return state_[thread] == at_end; });
    const int waits = int(std::find(state_, state_ + threads_, waiting) - state_);
    const Waiting here{barrier_.place(), waits, barrier_.arrived()};
    if (missing.count) observer_.diverge({Divergence::barrier_passed_by, here, missing});
}

// The place that a thread waits at: the barrier of the block, or an operation of its warp.
uint64_t Threads::waits_at(int thread) const
{
    return state_[thread] == waiting ? barrier_.place_of(thread) : parked_[thread].place;
}

const Exchange& Threads::meet(Meeting meeting, uint32_t mask, uint64_t value, uint64_t place)
{
    const int lane = current_ % warp_size;
    if (meeting != whoever_is_here && !(mask >> lane & 1))
        observer_.diverge({Divergence::mask_differs, {place, current_, 1}, {place, current_, 1}, mask});
    parked_[current_] = {meeting, mask & warp_lanes(), value, place, turn, 0};
    unsettled_ = true;
    PAUSE(*this, parked);
    return here->results_[here->parked_[here->current_].result];
}

// No lane of the warp can run. Lets lanes go on if all lanes that they wait for have come. False if there are no such
// lanes; then some have yielded, or all are at the barrier.
bool Threads::meet_lanes(int first, int last)
{
    uint32_t alive = 0, waits = 0, late = 0;  // not ended; parked; yielded
    for (int t = first; t < last; ++t) {
        const uint32_t lane = 1u << (t - first);
        if (state_[t] < at_end) alive |= lane;
        if (state_[t] == parked) waits |= lane;
        if (state_[t] == yielded) late |= lane;
    }
    if (!waits) return false;
    // Everything recorded so far comes before the lanes' meeting.
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
        return a.meeting == b.meeting && a.turn == b.turn &&
               (a.place == b.place || place_number(a.place) == place_number(b.place));
    };
    for (int lane = 0; lane < warp_size; ++lane) {
        if (!(waits >> lane & 1) || go >> lane & 1 || parked_[first + lane].meeting == whoever_is_here) continue;
        const uint32_t came = lanes_like(lane, same_mask);
        if ((parked_[first + lane].mask & alive) & ~came) continue;
        for (uint32_t others = waits & ~go & ~came; others; others &= others - 1) {
            const int other = first + __builtin_ctz(others);
            if (parked_[other].mask & came && same_place(parked_[other], parked_[first + lane]))
                observer_.diverge({Divergence::mask_differs, {parked_[other].place, other, 1}, {0, first + lane, 1},
                                   parked_[other].mask, parked_[first + lane].mask});
        }
        release(first, came, came & parked_[first + lane].mask);
        go |= came;
    }
    // A lane may ask for all lanes that are at its place. It goes on once no other lane is on its way there.
    for (int lane = 0; lane < warp_size && !go && !late; ++lane) {
        if (!(waits >> lane & 1) || parked_[first + lane].meeting != whoever_is_here) continue;
        const uint32_t came = lanes_like(lane, same_place);
        release(first, came, came);
        go |= came;
    }
    for (int lane = 0; lane < warp_size && !go && !late; ++lane) {
        if (!(waits >> lane & 1)) continue;
        const uint32_t came =
            lanes_like(lane, [&](const Parked& a, const Parked& b) { return same_mask(a, b) && same_place(a, b); });
        // The lanes that do not come and wait where the first of them does.
        const uint32_t mask = parked_[first + lane].mask, missing = mask & alive & ~came;
        Waiting others{0, first + __builtin_ctz(missing), 0};
        others.place = waits_at(others.first);
        for (uint32_t lanes = missing; lanes; lanes &= lanes - 1)
            others.count += place_number(waits_at(first + __builtin_ctz(lanes))) == place_number(others.place);
        const Waiting here{parked_[first + lane].place, first + lane, 1};
        observer_.diverge({Divergence::lanes_missed, here, others, mask, came});
        broken_ = true;
        release(first, came, came & mask);
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

void Threads::pass_turn(uint64_t turns, uint64_t place, const Arrivals* awaited)
{
    if (stopping) go_on(nobody);
    turns_[current_] += turns;
    if (turns_[current_] > patience_) {
        patience_ = 0;  // other threads in long loops end, too
        over_ = true;
        observer_.never_ends(place, current_, false, awaited);
        end_thread();
    }
    unsettled_ = yields_ = true;
    if (alone_) {
        const uint64_t state = program_state(fibers_, place);
        if (!state) ++clock_reads;  // an unknown state counts as a new one
        // A full record interrupts a thread elsewhere than its loop does, perhaps with nothing in between.
        yielded_with_[current_] = harness::hash_of(state, &place, sizeof place);
    }
    PAUSE(*this, yielded);
    if (here->stuck_) {
        observer_.never_ends(place, here->current_, true, awaited);
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
