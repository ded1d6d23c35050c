#include "divergence.h"

#include "../../../common/base/error.h"

namespace sim {
namespace {

// Part of a sentence: so many threads wait at a place, and `first` is the first of them.
std::string waiting_text(int threads, const std::string& place, const std::string& first)
{
    return threads == 1 ? harness::format("1 waits at %s (%s)", place.c_str(), first.c_str())
                        : harness::format("%d wait at %s (the first is %s)", threads, place.c_str(), first.c_str());
}

}  // namespace

Fault fault_at(const FindingKind& kind, uint64_t block, uint64_t place, int thread, const std::string& text)
{
    Fault fault(kind, site_of(place, load, 0), block);
    fault.thread = thread;
    fault.text = text;
    return fault;
}

Fault fault_of(const Divergence& d, uint64_t block)
{
    const bool at_barrier = d.kind <= Divergence::barrier_passed_by;
    Fault fault = fault_at(at_barrier ? kinds::divergent_barrier : kinds::divergent_warp, block, d.here.place,
                           d.here.first, "");
    const auto name_other = [&] {
        fault.second = site_of(d.there.place, load, 0);
        fault.other_block = block;
        fault.other_sentence = waiting_text(d.there.count, "this place", "{other}");
    };
    if (d.kind != Divergence::mask_differs) fault.other_thread = d.there.first;
    switch (d.kind) {
        case Divergence::barriers_differ:
            name_other();
            fault.sentence = "divergent barrier: the threads of {block} do not come to the same one: " +
                             waiting_text(d.here.count, "{at}", "{who}") + ", " +
                             waiting_text(d.there.count, "{other at}", "{other}") +
                             (d.elsewhere ? harness::format(", %d elsewhere", d.elsewhere) : "");
            break;
        case Divergence::barrier_missed:
            fault.sentence = "divergent barrier: the one at {at} is not reached by every thread of {block}: not by "
                             "{who}, which has left the kernel; from compute capability 7.0 on, it need not come";
            break;
        case Divergence::barrier_passed_by:
            fault.sentence = "divergent barrier: not all threads of {block} come to it: " +
                             waiting_text(d.here.count, "{at}", "{who}") +
                             harness::format(", and %d of the same warps pass it by and leave the kernel (%s{other}); "
                                             "put the barrier where all threads come",
                                             d.there.count, d.there.count > 1 ? "the first is " : "");
            break;
        case Divergence::lanes_missed:
            name_other();
            fault.text = harness::format("mask 0x%08x, came 0x%08x", d.mask, d.other);
            fault.sentence = "divergent warp: the operation at {at} in {who} of {block} waits for lanes that do not "
                             "come ({text}): " + waiting_text(d.there.count, "{other at}", "{other}");
            break;
        case Divergence::mask_differs:
            fault.sentence = "divergent warp: " +
                             (d.here.first == d.there.first
                                  ? harness::format("a thread whose lane is not in the mask 0x%08x calls the operation",
                                                    d.mask)
                                  : harness::format("lanes meet with different masks, 0x%08x and 0x%08x", d.mask,
                                                    d.other)) +
                             ": {who} at {at}, in {block}";
            break;
    }
    return fault;
}

Fault lane_absent(uint64_t block, uint64_t place, int thread, unsigned source, const std::string& why)
{
    Fault fault(kinds::divergent_warp, site_of(place, load, 0), block);
    fault.thread = thread;
    fault.sentence = harness::format("divergent warp: a shuffle reads lane %u, which {text}, so the value is "
                                       "undefined: {who} at {at}, in {block}", source);
    fault.text = why;
    return fault;
}

std::string endless_text(bool stuck, const Arrivals* awaited, uint64_t most_turns)
{
    if (!stuck) return harness::format("endless loop: more than %llu turns", (unsigned long long)most_turns);
    if (awaited)
        return harness::format("endless loop: the barrier expects %u arrivals, %u came, and no thread is left that "
                               "could arrive", awaited->expected, awaited->expected - awaited->missing);
    return "endless loop: every turn is like the last one, and neither the host nor another thread of the block "
           "changes that";
}

std::string later_blocks_text(uint64_t later, uint64_t blocks)
{
    return harness::format("; blocks run one after another here, and %llu of %llu have not begun",
                           (unsigned long long)later, (unsigned long long)blocks);
}

}  // namespace sim
