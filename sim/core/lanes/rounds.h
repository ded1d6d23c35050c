// Finds out that a block hangs. In each round, every thread of the block that is in a long loop takes its turns, and
// then lets the others run. If a round brings back all stacks, registers and memory, the same would happen again, for
// ever.

#pragma once

#include <csignal>
#include <cstdint>

namespace sim {

class Fibers;

// A hash of what a thread has where it has called the simulator: its stack, and the registers that outlive a call. 0:
// not known. `place`: the return address of that call.
uint64_t program_state(const Fibers& fibers, uint64_t place);

// The rounds of one block.
class Rounds {
public:
    bool any() const { return rounds_ > 0; }

    // A round is over. `now`: a hash of the state of all threads. `changes()`: a hash of what was stored since it was
    // called before; 0: nothing. True if everything is as it was after an earlier round.
    //
    // A loop can take several rounds to come back, because a full record of accesses interrupts it. So the hash of a
    // round is compared with those of the next ones, and a new one is taken after 1, 2, 4 and so on.
    template <typename Changes>
    bool come_back(uint64_t now, Changes changes)
    {
        ++rounds_;
        ++since_;
        if (rounds_ > 1 && now == seen_) {
            const uint64_t stored = changes();
            if (!stored || (period_ == since_ && stored == stored_)) return true;
            stored_ = stored;
            period_ = since_;
            since_ = 0;
        } else if (since_ >= kept_for_) {
            seen_ = now;
            since_ = period_ = 0;
            kept_for_ *= 2;
            changes();
        }
        return false;
    }

private:
    int rounds_ = 0;
    uint64_t seen_ = 0;      // the hash of an earlier round
    uint64_t since_ = 0;     // rounds since then
    uint64_t kept_for_ = 1;  // so many rounds it is compared with
    uint64_t period_ = 0;    // after so many rounds the state was the same
    uint64_t stored_ = 0;    // what was stored meanwhile
};

// Set by a signal: running kernels then end in the middle, as soon as a warp stops or a loop has been long.
extern volatile sig_atomic_t stopping;

// Times that this host thread's simulated threads have looked at the clock.
extern __thread uint64_t clock_reads;

// A loop may make so many turns in one thread before it is taken for endless.
uint64_t& most_turns();

}  // namespace sim
