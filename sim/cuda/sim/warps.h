// Exchanges between the lanes of a warp: shuffles, votes, matches, reductions.

#pragma once
#pragma GCC system_header

#include "base.h"

constexpr int warpSize = 32;

namespace sim {

SIM_INLINE bool has(uint32_t lanes, unsigned lane) { return lane < 32 && lanes >> lane & 1; }

enum class Shuffle { index, up, down, exclusive_or };

// Which lane `lane` reads. The warp is divided into parts of `width` lanes; a lane whose partner lies
// outside reads its own value.
SIM_FUNCTION inline unsigned shuffle_source(Shuffle way, unsigned lane, int by, int width)
{
    const unsigned first = lane & ~(unsigned(width) - 1) & 31, last = first + width - 1;
    const unsigned offset = unsigned(by) & 31;
    unsigned source = lane;
    switch (way) {
        case Shuffle::index: return first + (unsigned(by) & (width - 1));
        case Shuffle::up: source = lane >= first + offset ? lane - offset : lane; break;
        case Shuffle::down: source = lane + offset; break;
        case Shuffle::exclusive_or: source = lane ^ offset; break;
    }
    return source <= last ? source : lane;
}

// A value of 8 bytes or fewer as the bits that lanes exchange, and back.
template <typename T>
SIM_INLINE uint64_t to_bits(T value) { return bit_cast<Bits<T>>(value); }
template <typename T>
SIM_INLINE T from_bits(uint64_t bits) { return bit_cast<T>(Bits<T>(bits)); }

// A lane that did not take part has no value to read: CUDA leaves the result open, and it is 0 here, as on an H200. A
// sum that goes down to the first lane has no use for what the lanes from `by` on have then.
template <typename T>
SIM_FUNCTION T shuffle(Shuffle way, uint32_t mask, T value, int by, int width, const void* place)
{
    const Exchange& all = exchange(mask, to_bits(value), place);
    const unsigned own = lane(), source = shuffle_source(way, own, by, width);
    if (!has(all.lanes, source) && has(mask, own))
        note_absent(source, mask, way == Shuffle::down && own % unsigned(width) >= unsigned(by), place);
    return from_bits<T>(all.value[source]);
}

// The lanes whose value is not 0.
SIM_FUNCTION inline uint32_t ballot(uint32_t mask, bool predicate, const void* place)
{
    const Exchange& all = exchange(mask, predicate, place, Operation::vote);
    uint32_t votes = 0;
    for (unsigned l = 0; l < 32; ++l)
        if (has(all.lanes, l) && all.value[l]) votes |= 1u << l;
    return votes;
}

// The lanes that take part, in `took_part`, and those of them whose value is the same as this lane's.
SIM_FUNCTION inline uint32_t matches(uint32_t mask, uint64_t bits, const void* place, uint32_t* took_part = nullptr)
{
    const Exchange& all = exchange(mask, bits, place, Operation::match);
    uint32_t same = 0;
    for (unsigned l = 0; l < 32; ++l)
        if (has(all.lanes, l) && all.value[l] == bits) same |= 1u << l;
    if (took_part) *took_part = all.lanes;
    return same;
}

SIM_FUNCTION inline uint32_t match_all(uint32_t mask, uint64_t bits, int* predicate, const void* place)
{
    uint32_t all;
    const uint32_t same = matches(mask, bits, place, &all);
    access(predicate, sizeof *predicate, store, place);
    *predicate = same == all;
    return same == all ? all : 0;
}

}  // namespace sim

// By the types of values, as CUDA has them. The lanes of a shuffle without a mask are those that are here.
#define SIM_SHUFFLE(T, name, way, Argument) \
    SIM_FUNCTION inline T __shfl##name##_sync(unsigned mask, T value, Argument by, int width = warpSize) \
    { \
        return sim::shuffle(sim::Shuffle::way, mask, value, int(by), width, SIM_PLACE); \
    } \
    SIM_FUNCTION inline T __shfl##name(T value, Argument by, int width = warpSize) \
    { \
        return sim::shuffle(sim::Shuffle::way, sim::converged(SIM_PLACE), value, int(by), width, SIM_PLACE); \
    }
#define SIM_SHUFFLES(T) \
    SIM_SHUFFLE(T, , index, int) \
    SIM_SHUFFLE(T, _up, up, unsigned) \
    SIM_SHUFFLE(T, _down, down, unsigned) \
    SIM_SHUFFLE(T, _xor, exclusive_or, int)
#define SIM_MATCHES(T) \
    SIM_FUNCTION inline unsigned __match_any_sync(unsigned mask, T value) \
    { \
        return sim::matches(mask, sim::to_bits(value), SIM_PLACE); \
    } \
    SIM_FUNCTION inline unsigned __match_all_sync(unsigned mask, T value, int* predicate) \
    { \
        return sim::match_all(mask, sim::to_bits(value), predicate, SIM_PLACE); \
    }
#define SIM_LANES(T) SIM_SHUFFLES(T) SIM_MATCHES(T)

SIM_LANES(int)
SIM_LANES(unsigned)
SIM_LANES(long)
SIM_LANES(unsigned long)
SIM_LANES(long long)
SIM_LANES(unsigned long long)
SIM_LANES(float)
SIM_LANES(double)

#undef SIM_LANES
#undef SIM_MATCHES

SIM_FUNCTION inline unsigned __activemask() { return sim::converged(SIM_PLACE); }

// A vote, `result` of the lanes' ballot on `predicate`, among the lanes of a mask and among those that are here.
#define SIM_VOTE(T, name, predicate, result) \
    SIM_FUNCTION inline T __##name##_sync(unsigned mask, int vote) \
    { \
        return sim::ballot(mask, predicate, SIM_PLACE) result; \
    } \
    SIM_FUNCTION inline T __##name(int vote) \
    { \
        return sim::ballot(sim::converged(SIM_PLACE), predicate, SIM_PLACE) result; \
    }
SIM_VOTE(unsigned, ballot, vote, )
SIM_VOTE(int, any, vote, != 0)
SIM_VOTE(int, all, !vote, == 0)
#undef SIM_VOTE

// `step`: what becomes of `result` and the next lane's `value`.
#define SIM_REDUCE(name, T, step) \
    SIM_FUNCTION inline T __reduce_##name##_sync(unsigned mask, T own) \
    { \
        const sim::Exchange& all = \
            sim::exchange(mask, sim::to_bits(own), SIM_PLACE, sim::Operation::reduce); \
        bool any = false; \
        T result = own; \
        for (unsigned l = 0; l < 32; ++l) { \
            if (!sim::has(all.lanes, l)) continue; \
            const T value = sim::from_bits<T>(all.value[l]); \
            result = any ? static_cast<T>(step) : value; \
            any = true; \
        } \
        return result; \
    }
SIM_REDUCE(add, unsigned, result + value)
SIM_REDUCE(min, unsigned, value < result ? value : result)
SIM_REDUCE(max, unsigned, value > result ? value : result)
SIM_REDUCE(add, int, unsigned(result) + unsigned(value))
SIM_REDUCE(min, int, value < result ? value : result)
SIM_REDUCE(max, int, value > result ? value : result)
SIM_REDUCE(and, unsigned, result & value)
SIM_REDUCE(or, unsigned, result | value)
SIM_REDUCE(xor, unsigned, result ^ value)
#undef SIM_REDUCE
