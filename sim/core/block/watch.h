// Watches memory: every access of a simulated thread passes here before it is made.
//
// The compiler puts a call in front of each access (hooks.cpp). Most accesses go where the last ones went: those ranges
// are looked at first, and the access is written down. Everything else is looked at closely. Locals and the simulator's
// own variables are no memory of the GPU's, and what a thread may not touch ends the thread, as it would end the kernel
// on hardware.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../sinks/faults.h"
#include "../lanes/threads.h"
#include "../sinks/settings.h"
#include "frames.h"
#include "locals.h"
#include "reach.h"
#include "suspects.h"

namespace sim {

// Ranges of addresses to which accesses of this host thread pass without a closer look, if they are aligned. Ranges
// begin and end at multiples of 16 bytes, so that an access that begins inside ends inside.
struct Likely {
    Range load[2], store[2];  // global memory; where the last ones went first
    Range shared[2];          // one array each

    // The memory of the newest access comes first.
    static void prefer(Range (&ranges)[2], const Range& range);
};
extern __thread Likely likely;

// The pieces in which an access to several bytes is made, where the elements of the memory are not known.
struct Pieces {
    unsigned bytes;             // at most so many each
    bool of_memcpy = false;     // nvcc makes a memcpy byte by byte, whatever the type of its pointers
};
constexpr Pieces in_words{4}, in_halves_of_16{8}, in_bytes{1, true};

// A reference to a type that was bound to an address that lacks the type's alignment.
struct Misaligned {
    uintptr_t address = 0;
    unsigned alignment = 1;
    const char* type = nullptr;
};

// The functions from look() on are called on the fiber of a thread. Those that refuse an access end the thread.
class Watch {
public:
    Watch(Threads& threads, Columns& columns, SharedMemory& shared, Faults& faults, std::vector<LocalArray>& arrays);
    void start(const Launching& launching, const Settings& settings);
    void start_block(uint64_t block);
    static void forget_likely() { likely = {}; }  // the next accesses are looked at

    // The closer look at an access. It is made afterwards, and counted if it is to memory of the GPU.
    void look(const Access& access, const Caller& caller);
    // An access to a structure: made in pieces as nvcc would make them.
    void look_at_range(uintptr_t address, size_t bytes, Kind kind, uint64_t place, Pieces pieces, const Caller& caller);
    // Makes room for the running lane's next access or event.
    void make_room(uint64_t place);

    // An array or a structure of the running thread. `stored`: it has first values.
    void local_begins(Range range, const LocalArray& array, bool stored, const Caller& caller);
    // An index lies beyond the end of an array of this type: a fault, unless an access shows that the array is a row
    // of a larger one.
    void suspect_index(int64_t index, const std::string& type, Spot spot, uint64_t place);
    void settle_index() { judge(suspects_.settle()); }  // no such access came
    void note_misaligned(const Misaligned& reference);
    void note_division_by_zero(uint64_t place);
    [[noreturn]] void refuse_misaligned(const Misaligned& reference, Kind kind, uint64_t place);

    [[noreturn]] void fail(const FindingKind& kind, const std::string& text, uint64_t place, bool asserted = false);
    void fail_if_host_address(uintptr_t address, uint64_t place);
    void fail_if_built_in(uintptr_t address, uint64_t place);  // of a store

private:
    void look_closely(const Access& access, const Caller& caller);
    void put_local(uint64_t address, Site site);
    bool may_pass(const Access& access, unsigned bytes, const Caller& caller);
    unsigned piece_of(uintptr_t address, size_t bytes, uint64_t place, Pieces pieces);
    void look_for_misaligned(uintptr_t address, size_t bytes, Kind kind, uint64_t place);
    void check_output(const Allocation& memory, const Access& access);
    void judge(const Suspects::Verdict& verdict);
    [[noreturn]] void refuse(const FindingKind& kind, const Access& access, const Array& array,
                             const std::string& text = "");
    [[noreturn]] void end_thread(Fault fault);  // with this fault

    Threads& threads_;
    Columns& columns_;
    SharedMemory& shared_;
    Faults& faults_;
    const Settings* settings_ = nullptr;
    uint64_t block_ = 0;
    Reach reach_;
    Locals locals_;
    Suspects suspects_;
    Misaligned misaligned_[8];  // those of the launch that were bound last
    unsigned next_misaligned_ = 0;
};

}  // namespace sim
