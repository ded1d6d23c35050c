// The barrier of a block: who has come, and to which place of the source. Threads may wait at several calls of it,
// which is a fault unless a compiler has made them of one.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "access.h"
#include "waits.h"

namespace sim {

class Barrier {
public:
    void start() { *this = Barrier(); }
    void arrive(int thread, uint64_t place)
    {
        if (arrived_++ == 0) place_ = place;
        else if (place != place_) note_other_place(thread, place);
    }
    void add(int predicate) { predicates_ += predicate != 0; }
    void open();  // for all that have arrived

    int arrived() const { return arrived_; }
    int predicates() const { return opened_with_; }  // that were not 0, of those for whom it opened last
    uint64_t place() const { return place_; }         // of the first that has arrived
    bool one_place() const { return elsewhere_.empty(); }
    uint64_t place_of(int thread) const;  // that the waiting thread waits at
    // The threads that wait, by place, in the order of their first thread. `waits(thread)`: it is one of them.
    template <typename Waits>
    std::vector<Waiting> groups(int threads, Waits waits) const;

private:
    struct Elsewhere {
        int thread;
        uint64_t place;
    };
    void note_other_place(int thread, uint64_t place);
    static void add(std::vector<Waiting>& groups, int thread, uint64_t place);

    int arrived_ = 0, predicates_ = 0, opened_with_ = 0;
    uint64_t place_ = 0;
    std::vector<Elsewhere> elsewhere_;  // threads that wait at another place, in the order of arrival
};

template <typename Waits>
std::vector<Waiting> Barrier::groups(int threads, Waits waits) const
{
    std::vector<Waiting> groups;
    for (int thread = 0; thread < threads; ++thread)
        if (waits(thread)) add(groups, thread, place_of(thread));
    return groups;
}

// Threads that have come to the end of the kernel while others of their warps wait; a whole warp may come there.
// `first`: of those.
template <typename Waits, typename Ended>
Waiting passed_by(int threads, Waits waits, Ended ended)
{
    Waiting missing{0, -1, 0};
    for (int first = 0; first < threads; first += warp_size) {
        int waiting = 0, gone = 0, first_gone = -1;
        for (int thread = first; thread < std::min(first + warp_size, threads); ++thread) {
            waiting += waits(thread);
            if (ended(thread) && gone++ == 0) first_gone = thread;
        }
        if (!waiting || !gone) continue;
        if (!missing.count) missing.first = first_gone;
        missing.count += gone;
    }
    return missing;
}

}  // namespace sim
