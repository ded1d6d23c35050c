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
#include <cstring>
#include <unwind.h>

#include "../elf/places.h"

namespace sim {

__thread uint64_t turn;
__thread bool suspicious;
__thread uint64_t end_of_kernel;
__thread uint64_t clock_reads;
volatile sig_atomic_t stopping = 0;
__thread uint3 thread_index, block_index;
__thread Dimensions block_size, grid_size;

namespace {

thread_local Threads* here = nullptr;  // on this host thread

// The state of the program where it has called the simulator: its stack, and the registers that outlive a call. Left
// out are the simulator's own frames beneath, and the number that counts the turns of the thread's loop.
struct ProgramState {
    const Fibers& fibers;
    uint64_t place, hash;

    void add(uint64_t word)
    {
        const uint64_t after = next_of(word);  // -O0 keeps the number of the last turn, too
        if (turn && (!((word ^ turn) & turn_bits) || !((after ^ turn) & turn_bits))) return;
        hash = hash_of(hash, &word, sizeof word);
    }
    static _Unwind_Reason_Code look(_Unwind_Context* context, void* of)
    {
        ProgramState& state = *static_cast<ProgramState*>(of);
        if (_Unwind_GetIP(context) != state.place) return _URC_NO_REASON;
#if defined __x86_64__
        for (int r : {3, 6, 12, 13, 14, 15}) state.add(_Unwind_GetGR(context, r));
#else
        for (int r = 19; r < 30; ++r) state.add(_Unwind_GetGR(context, r));
#endif
        const std::string_view stack = state.fibers.stack(reinterpret_cast<const char*>(_Unwind_GetCFA(context)));
        for (size_t at = 0; at + sizeof(uint64_t) <= stack.size(); at += sizeof(uint64_t)) {
            uint64_t word;
            std::memcpy(&word, &stack[at], sizeof word);
            state.add(word);
        }
        return _URC_NORMAL_STOP;
    }
};

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
    rounds_ = 0;
    seen_ = since_ = 0;
    kept_for_ = 1;
    std::fill_n(state_, threads_, fresh);
    std::fill_n(returned_, threads_, false);
    std::fill_n(turns_, threads_, 0);
    at_barrier_ = phase_ = predicates_ = 0;
    barrier_place_ = 0;
    elsewhere_.clear();
    unsettled_ = yields_ = ends_ = broken_ = false;
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

// Makes the next thread that can run the current one, or `nobody` at the end of the block.
inline __attribute__((always_inline)) int Threads::advance()
{
    ++current_;  // most often, this one can run
    if ((current_ == warp_end_ || state_[current_] > ready) && !find_next()) return nobody;
    thread_index = index_[current_];
    record_.begin_lane(unsigned(current_) % warp_size);
    return current_;
}

// The same for a current thread that cannot run, or that is of the next warp. False at the end of the block.
bool Threads::find_next()
{
    for (;; ++current_) {
        if (current_ == warp_end_) {
            if (unsettled_ && meet_lanes((warp_end_ - 1) / warp_size * warp_size, warp_end_)) {
                current_ = (warp_end_ - 1) / warp_size * warp_size - 1;
                continue;
            }
            observer_.warp_stopped((warp_end_ - 1) / warp_size);
            if (stopping) return false;
            unsettled_ = false;
            if (warp_end_ < threads_) {
                warp_end_ = std::min(warp_end_ + warp_size, threads_);
            } else {
                if (yields_) {
                    stuck_ = stuck();
                    std::replace(state_, state_ + threads_, yielded, ready);
                    yields_ = false;
                } else {
                    if (at_barrier_ == 0) return false;
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

// All threads have yielded, or wait, or have ended. True if everything is as it was at an earlier such time: the stack
// of each thread, with its registers, and the memory that was changed in between. The same would then happen again, for
// ever. A loop can take several rounds to come back, because a full record of accesses interrupts it. So the hash of a
// round is compared with those of the next ones, and a new one is taken after 1, 2, 4 and so on.
bool Threads::stuck()
{
    if (!alone_) return false;
    uint64_t now = hash_of(clock_reads, &phase_, sizeof phase_);
    for (int t = 0; t < threads_; ++t) {
        now = hash_of(now, &state_[t], sizeof state_[t]);
        if (state_[t] == yielded) now = hash_of(now, &yielded_with_[t], sizeof yielded_with_[t]);
        if (state_[t] != parked) continue;
        const std::string_view stack = fibers_.stack(fibers_.stack_pointer(*fiber_of_[t]));
        now = hash_of(now, stack.data(), stack.size());
    }
    ++rounds_;
    ++since_;
    if (rounds_ > 1 && now == seen_) {
        const uint64_t changes = observer_.changes();
        if (!changes || (period_ == since_ && changes == changes_)) return true;
        changes_ = changes;
        period_ = since_;
        since_ = 0;
    } else if (since_ >= kept_for_) {
        seen_ = now;
        since_ = period_ = 0;
        kept_for_ *= 2;
        observer_.changes();
    }
    return false;
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
    if (__builtin_expect(suspicious, 0)) observer_.settle();
    record_.end_lane();
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
    if (place_number(place) != place_number(barrier_place_)) elsewhere_.push_back({current_, place});
}

// All threads that have not left the kernel have arrived.
void Threads::open_barrier()
{
    if (!elsewhere_.empty()) report_differing_barriers();
    else if (lockstep_ && at_barrier_ < threads_) report_missing_thread();
    else if (ends_ && !broken_) report_passed_by();
    ++phase_;
    at_barrier_ = 0;
    barrier_result_ = predicates_;
    predicates_ = 0;
    barrier_place_ = 0;
    elsewhere_.clear();
    std::replace(state_, state_ + threads_, waiting, ready);
    observer_.barrier_opens();
}

// The threads that wait, by place, in the order of their first thread. Those of `elsewhere_` are in the order of
// arrival, which differs where lanes wait for each other.
void Threads::report_differing_barriers()
{
    std::vector<uint64_t> place(threads_, barrier_place_);
    for (const Elsewhere& other : elsewhere_) place[other.thread] = other.place;
    std::vector<Waiting> groups;
    for (int t = 0; t < threads_; ++t) {
        if (state_[t] != waiting) continue;
        const auto same = [&](const Waiting& group) { return place_number(group.place) == place_number(place[t]); };
        const auto group = std::find_if(groups.begin(), groups.end(), same);
        if (group == groups.end()) groups.push_back({place[t], t, 1});
        else ++group->count;
    }
    const auto fewer = [](const Waiting& a, const Waiting& b) { return a.count < b.count; };
    const Waiting& second = *std::max_element(groups.begin() + 1, groups.end(), fewer);
    observer_.barriers_differ(groups[0], second, at_barrier_ - groups[0].count - second.count);
    broken_ = true;
}

void Threads::report_missing_thread()
{
    const auto left = [](State state) { return state >= at_end; };
    observer_.barrier_missed(barrier_place_, int(std::find_if(state_, state_ + threads_, left) - state_));
}

// Lanes of a warp wait, and others of it have come to the end of the kernel. Whole warps may do that.
void Threads::report_passed_by()
{
    Waiting missing{0, nobody, 0};
    for (int first = 0; first < threads_; first += warp_size) {
        const auto begin = state_ + first, end = state_ + std::min(first + warp_size, threads_);
        const auto passed = std::find(begin, end, at_end);
        if (passed == end || std::find(begin, end, waiting) == end) continue;
        if (!missing.count) missing.first = int(passed - state_);
        missing.count += int(std::count(begin, end, at_end));
    }
    const int waits = int(std::find(state_, state_ + threads_, waiting) - state_);
    if (missing.count) observer_.barrier_passed_by({barrier_place_, waits, at_barrier_}, missing);
}

// The place that a thread waits at: the barrier of the block, or an operation of its warp.
uint64_t Threads::waits_at(int thread) const
{
    if (state_[thread] != waiting) return parked_[thread].place;
    const auto same = [=](const Elsewhere& other) { return other.thread == thread; };
    const auto other = std::find_if(elsewhere_.begin(), elsewhere_.end(), same);
    return other == elsewhere_.end() ? barrier_place_ : other->place;
}

const Exchange& Threads::meet(Meeting meeting, uint32_t mask, uint64_t value, uint64_t place)
{
    const int lane = current_ % warp_size;
    if (meeting != whoever_is_here && !(mask >> lane & 1)) observer_.mask_differs(place, current_, mask, current_, 0);
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
                observer_.mask_differs(parked_[other].place, other, parked_[other].mask, first + lane,
                                       parked_[first + lane].mask);
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
        observer_.lanes_missed(parked_[first + lane].place, first + lane, mask, came, others);
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
        observer_.never_ends(place, current_, false, awaited);
        end_thread();
    }
    unsettled_ = yields_ = true;
    if (alone_) {
        ProgramState state{fibers_, place, 0};
        _Unwind_Backtrace(ProgramState::look, &state);
        if (!state.hash) ++clock_reads;  // an unknown state counts as a new one
        // A full record interrupts a thread elsewhere than its loop does, perhaps with nothing in between.
        yielded_with_[current_] = hash_of(state.hash, &place, sizeof place);
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
