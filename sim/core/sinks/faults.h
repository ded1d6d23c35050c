// Faults: what goes wrong in a kernel, in numbers, while it runs. When the launch is over, each becomes a finding,
// which has the sentence and the lines for a reader. The kinds are a table in common/base/finding_kinds.h.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../../common/base/finding_kinds.h"
#include "../lanes/access.h"
#include "../lanes/indices.h"
#include "../memory/memory.h"

namespace sim {

namespace kinds = harness::kinds;
using harness::FindingKind;

// The first of all faults of one sort at one place, and how many there were.
//
// If `memory` is known, the sentence of its finding says which bytes of it were accessed, and ends with `text`.
// Otherwise it is `text`, with the thread and the line. A fault may have a `sentence` of its own, in which {who}, {at}
// and {block} stand for the thread, the line and the block, {other} and {other at} for those of the second access, and
// {text} for the text.
struct Fault {
    Fault() = default;
    Fault(const FindingKind& of, Site site, uint64_t in_block) : kind(&of), first(site), block(in_block) {}

    const FindingKind* kind = nullptr;
    Site first = 0, second = 0;        // second: where the other access of a race is made
    int thread = 0, other_thread = 0;  // linear index in the block, of the first and second access
    uint64_t block = 0, other_block = 0;  // linear index in the grid
    std::string memory;                // the memory that the address lies in or next to: odata; shared memory (tile)
    int64_t offset = 0;                // of the address from the beginning of this memory, in bytes
    uint64_t memory_bytes = 0;         // of this memory; 0: not known
    std::optional<Space> space;        // of this memory; only for a race
    uint64_t count = 1;
    std::string text;  // faults with another text are other faults, so it has no number that differs by the thread
    std::string sentence, other_sentence;  // empty: the usual one; `other_sentence`: about the second place
    bool asserted = false;             // an assertion of the program stopped the thread
    bool signal = false;  // the threads of a race may have meant a word to order them
    uint64_t barrier = 0;       // a barrier between the places of a race, at which one of the two threads waits
    int waiting = 0;            // the thread that waits there
    uint64_t beside = 0;  // the call of the launch or the copy that races with this one
};

// The end of the text on a load of which some bytes are stored and others are not.
constexpr char maybe_padding[] = "other bytes of it were stored: if these are padding, nothing is wrong";

// True if two faults are of one kind, at the same places of the source.
bool same_fault(const Fault& a, const Fault& b);

class Faults {
public:
    void add(const Fault& fault);
    std::vector<Fault> list;

    // A fault has ended a thread, so others miss what it would have stored: at first nothing, then what they load
    // behind a barrier or in a later block. Such a load of uninitialized memory is a consequence.
    static constexpr unsigned in_this_block = 1, before_a_barrier = 2, in_an_earlier_block = 4;
    unsigned ended = 0;
};

// True if two accesses have one kind, size and place in the source. Compilers copy accesses, so addresses can differ.
bool same_place(Site a, Site b);

// True if the program can record events, which are the remedy for a race with another launch.
enum class Remedy { none, event };

// The place that a call returns to.
harness::FindingPlace finding_place(uint64_t return_address);

// The finding, with a text in the words of compute-sanitizer.
harness::Finding finding_of(const Fault& fault, const std::string& kernel, dim3 grid, dim3 block,
                            Remedy remedy = Remedy::event);

}  // namespace sim
