// The cost of a warp's request: which transactions a global access turns into, and how many
// wavefronts a shared one takes, by compute capability. The rules are those of the CUDA C
// Programming Guide ("Compute Capabilities") and its best-practices companion.

#pragma once

#include <cstdint>

#include "../../../common/base/machine.h"
#include "../lanes/requests.h"
#include "transactions.h"

namespace sim {

// Two lanes that meet in a bank of shared memory: but for that, one wavefront could serve both.
struct Conflict {
    int lanes[2] = {-1, -1};     // -1: nobody meets
    uint64_t words[2] = {0, 0};  // of 4 bytes, numbered by address; of a wider element, the first
    unsigned bank = 0;
};

// A machine's rules, picked once.
class Rules {
public:
    explicit Rules(const harness::Machine& machine);

    // The transactions of a request to global memory. Lanes access 1, 2, 4, 8 or 16 bytes each, aligned.
    void global(const Request& request, Transactions& out) const;

    // How many wavefronts a request to shared memory takes: passes in which every bank serves
    // one word, or one atomic operation. Lanes access 1, 2, 4, 8 or 16 bytes each, aligned; addresses count from a bank
    // 0.
    int shared(const Request& request) const;

    // The lowest two lanes that meet. There are two if and only if a request takes more wavefronts
    // than the ideal. Slow.
    Conflict conflict(const Request& request) const;

    // The bytes that the lanes ask for; what several of them want counts once.
    uint64_t asked_bytes(const Request& request) const;

    // Wavefronts without bank conflicts: one for each part of the warp that is served by itself,
    // or one for two parts that may share a wavefront and ask for at most 128 bytes.
    int ideal_shared(const Request& request) const;

    // "transactions" on 1.x, "lines" for loads of 2.x, "sectors" elsewhere.
    const char* unit(Kind kind) const;
    // The fewest units that a request for so many bytes could take.
    uint64_t ideal_global(const Request& request, uint64_t asked_bytes) const;

private:
    bool take_turns(const Request& request) const;  // in shared memory: even lanes that access one word
    int part(unsigned bytes) const;  // lanes served together in shared memory
    // The lanes of the part that begins at this lane and of the next, if they may share a wavefront; otherwise 0.
    uint32_t may_share(const Request& request, int first) const;
    bool could_share(const Request& request, int first) const;
    bool one_for_all(const Request& request) const;
    // The piece of memory that a request moves, from 2.0 on.
    unsigned piece_of(Kind kind) const { return kind == load ? load_bytes_ : store_bytes_; }

    int major_, minor_;
    unsigned load_bytes_, store_bytes_, banks_, bank_bytes_;
};

}  // namespace sim
