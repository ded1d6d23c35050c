// cuda::barrier, cuda::pipeline and cuda::memcpy_async.

#pragma once
#pragma GCC system_header

#include "copies.h"
#include "scopes.h"

namespace sim {

// A barrier in memory: how many threads have still to arrive in this phase, how many there are, and the
// number of the phase, in one word that changes atomically.
class Phases {
public:
    static constexpr int count_bits = 20;
    static constexpr uint64_t most = (1u << count_bits) - 1;

    SIM_FUNCTION void start(uint64_t expected, const void* place)
    {
        access(&word_, sizeof word_, store, place);
        __atomic_store_n(&word_, expected << count_bits | expected, __ATOMIC_SEQ_CST);
    }

    // Returns the phase that it arrives in. The last one to arrive calls `completion` first. `leave`: so many
    // are not expected any more from the next phase on.
    template <typename Completion>
    SIM_FUNCTION uint64_t arrive(uint64_t arriving, uint64_t leave, Completion& completion, const void* place)
    {
        release(&word_, false, device_scope, place);
        access(&word_, sizeof word_, atomic, place);
        uint64_t before = __atomic_load_n(&word_, __ATOMIC_SEQ_CST), now;
        do {
            if (arriving > (before & most)) fail("more threads arrive at a barrier than it expects", place);
            now = before - arriving - (leave << count_bits);
        } while (!__atomic_compare_exchange_n(&word_, &before, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        if ((now & most) == 0) {
            completion();
            release(&word_, false, device_scope, place);
            __atomic_store_n(&word_, now + (uint64_t(1) << 2 * count_bits) + (now >> count_bits & most),
                             __ATOMIC_SEQ_CST);
        }
        return before >> 2 * count_bits;
    }

    SIM_FUNCTION uint64_t phase() const { return __atomic_load_n(&word_, __ATOMIC_SEQ_CST) >> 2 * count_bits; }

    // Until phase number `phase` is over. However long that takes, it is one access.
    SIM_FUNCTION void wait(uint64_t phase, const void* place) const
    {
        while (this->phase() == phase) {
            const uint64_t word = __atomic_load_n(&word_, __ATOMIC_SEQ_CST);
            const Arrivals awaited{&word_, unsigned(word >> count_bits & most), unsigned(word & most)};
            pass_turn(place, &awaited);
        }
        access(&word_, sizeof word_, atomic, place);
    }

private:
    uint64_t word_;
};

struct NoCompletion {
    SIM_INLINE_MEMBER void operator()() const {}
};

}  // namespace sim

namespace cuda {

template <thread_scope, typename Completion = sim::NoCompletion>
class barrier {
public:
    class arrival_token {
        friend class barrier;
        uint64_t phase_ = 0;
    };

    barrier() = default;
    explicit SIM_FUNCTION barrier(ptrdiff_t expected, Completion completion = Completion()) : completion_(completion)
    {
        phases_.start(uint64_t(expected), SIM_PLACE);
    }
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;

    friend SIM_FUNCTION void init(barrier* b, ptrdiff_t expected) { b->phases_.start(uint64_t(expected), SIM_PLACE); }
    friend SIM_FUNCTION void init(barrier* b, ptrdiff_t expected, Completion completion)
    {
        b->completion_ = completion;
        b->phases_.start(uint64_t(expected), SIM_PLACE);
    }

    SIM_FUNCTION arrival_token arrive(ptrdiff_t update = 1)
    {
        arrival_token token;
        token.phase_ = phases_.arrive(uint64_t(update), 0, completion_, SIM_PLACE);
        return token;
    }
    SIM_FUNCTION void wait(arrival_token&& token) const { phases_.wait(token.phase_, SIM_PLACE); }
    SIM_FUNCTION void wait_parity(bool parity) const
    {
        const uint64_t phase = phases_.phase();
        if (bool(phase & 1) == parity) phases_.wait(phase, SIM_PLACE);
    }
    SIM_FUNCTION void arrive_and_wait() { phases_.wait(phases_.arrive(1, 0, completion_, SIM_PLACE), SIM_PLACE); }
    SIM_FUNCTION void arrive_and_drop() { phases_.arrive(1, 1, completion_, SIM_PLACE); }
    static constexpr ptrdiff_t max() { return sim::Phases::most; }

private:
    sim::Phases phases_;
    [[no_unique_address]] Completion completion_;
};

// A number of bytes that is known to be a multiple of an alignment.
template <size_t alignment>
struct aligned_size_t {
    static constexpr size_t align = alignment;
    size_t value;
    explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
    constexpr operator size_t() const { return value; }
};

enum class pipeline_role { producer, consumer };

template <thread_scope, uint8_t stages>
class pipeline_shared_state {
public:
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state&) = delete;
    pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

    // For this header.
    sim::Phases full_[stages], empty_[stages];
    unsigned producers_;
};

// The pipeline of one thread has nothing to wait for: its copies are made at once. In that of a block, each stage has
// two barriers: producers arrive at `full`, consumers at `empty`.
template <thread_scope Scope>
class pipeline {
public:
    pipeline(pipeline&&) = default;
    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    SIM_FUNCTION void producer_acquire()
    {
        if (stages_ && head_ >= stages_) empty_[head_ % stages_].wait(head_ / stages_ - 1, SIM_PLACE);
    }
    SIM_FUNCTION void producer_commit()
    {
        sim::NoCompletion none;
        if (stages_) full_[head_ % stages_].arrive(1, 0, none, SIM_PLACE);
        ++head_;
    }
    SIM_FUNCTION void consumer_wait()
    {
        if (stages_) full_[tail_ % stages_].wait(tail_ / stages_, SIM_PLACE);
    }
    SIM_FUNCTION void consumer_release()
    {
        sim::NoCompletion none;
        if (stages_) empty_[tail_ % stages_].arrive(1, 0, none, SIM_PLACE);
        ++tail_;
    }
    bool quit() { return true; }

private:
    pipeline() = default;

    template <typename Group, uint8_t stages>
    SIM_FUNCTION pipeline(const Group& group, pipeline_shared_state<Scope, stages>* state, unsigned producers,
                          const void* place)
        : full_(state->full_), empty_(state->empty_), stages_(stages)
    {
        const unsigned size = unsigned(group.size()), consumers = producers == size ? size : size - producers;
        if (group.thread_rank() == 0)
            for (int s = 0; s < stages; ++s) {
                full_[s].start(producers, place);
                empty_[s].start(consumers, place);
            }
        group.sim_sync(place);
    }

    friend pipeline<thread_scope_thread> make_pipeline();
    template <typename Group, thread_scope S, uint8_t stages>
    friend pipeline<S> make_pipeline(const Group&, pipeline_shared_state<S, stages>*);
    template <typename Group, thread_scope S, uint8_t stages>
    friend pipeline<S> make_pipeline(const Group&, pipeline_shared_state<S, stages>*, size_t);
    template <typename Group, thread_scope S, uint8_t stages>
    friend pipeline<S> make_pipeline(const Group&, pipeline_shared_state<S, stages>*, pipeline_role);

    sim::Phases *full_ = nullptr, *empty_ = nullptr;
    uint64_t stages_ = 0, head_ = 0, tail_ = 0;
};

SIM_FUNCTION inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

template <typename Group, thread_scope Scope, uint8_t stages>
SIM_FUNCTION pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, stages>* state)
{
    return {group, state, unsigned(group.size()), SIM_PLACE};
}

// The first threads of the group are the producers.
template <typename Group, thread_scope Scope, uint8_t stages>
SIM_FUNCTION pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, stages>* state,
                                           size_t producers)
{
    return {group, state, unsigned(producers), SIM_PLACE};
}

template <typename Group, thread_scope Scope, uint8_t stages>
SIM_FUNCTION pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, stages>* state,
                                           pipeline_role role)
{
    unsigned* const count = &state->producers_;
    if (group.thread_rank() == 0) {
        sim::access(count, sizeof *count, sim::store, SIM_PLACE);
        __atomic_store_n(count, 0, __ATOMIC_SEQ_CST);
    }
    group.sim_sync(SIM_PLACE);
    if (role == pipeline_role::producer) {
        sim::access(count, sizeof *count, sim::atomic, SIM_PLACE);
        __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
    }
    group.sim_sync(SIM_PLACE);
    return {group, state, __atomic_load_n(count, __ATOMIC_SEQ_CST), SIM_PLACE};
}

template <uint8_t>
SIM_INLINE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&)
{
}

// The alignment that the type of a size gives.
template <typename Size, size_t otherwise = 1>
constexpr size_t promised_alignment = otherwise;
template <size_t alignment, size_t otherwise>
constexpr size_t promised_alignment<aligned_size_t<alignment>, otherwise> = alignment;

// Copies of a group of threads, and of one thread. `Sync`: a barrier or a pipeline.
template <typename Group, typename Size, typename Sync>
SIM_FUNCTION void memcpy_async(const Group& group, void* to, const void* from, Size bytes, Sync&)
{
    sim::copy_part(to, from, size_t(bytes), unsigned(group.thread_rank()), unsigned(group.size()), SIM_PLACE,
                     promised_alignment<Size>);
}
template <typename Size, typename Sync>
SIM_FUNCTION void memcpy_async(void* to, const void* from, Size bytes, Sync&)
{
    sim::copy_part(to, from, size_t(bytes), 0, 1, SIM_PLACE, promised_alignment<Size>);
}

}  // namespace cuda
