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

Fault barriers_differ(uint64_t block, const Waiting& first, const Waiting& second, int elsewhere)
{
    Fault fault(kinds::divergent_barrier, site_of(first.place, load, 0), block);
    fault.thread = first.first;
    fault.second = site_of(second.place, load, 0);
    fault.other_thread = second.first;
    fault.other_block = block;
    fault.sentence = "divergent barrier: the threads of {block} do not come to the same one: " +
                       waiting_text(first.count, "{at}", "{who}") + ", " +
                       waiting_text(second.count, "{other at}", "{other}") +
                       (elsewhere ? harness::format(", %d elsewhere", elsewhere) : "");
    fault.other_sentence = waiting_text(second.count, "this place", "{other}");
    return fault;
}

Fault barrier_missed(uint64_t block, uint64_t place, int missing)
{
    Fault fault(kinds::divergent_barrier, site_of(place, load, 0), block);
    fault.thread = missing;
    fault.sentence = "divergent barrier: the one at {at} is not reached by every thread of {block}: not by {who}, "
                       "which has left the kernel; from compute capability 7.0 on, it need not come";
    return fault;
}

Fault barrier_passed_by(uint64_t block, const Waiting& here, const Waiting& missing)
{
    Fault fault(kinds::divergent_barrier, site_of(here.place, load, 0), block);
    fault.thread = here.first;
    fault.other_thread = missing.first;
    fault.sentence = "divergent barrier: not all threads of {block} come to it: " +
                       waiting_text(here.count, "{at}", "{who}") +
                       harness::format(", and %d of the same warps pass it by and leave the kernel (%s{other}); put "
                                       "the barrier where all threads come",
                                       missing.count, missing.count > 1 ? "the first is " : "");
    return fault;
}

Fault lanes_missed(uint64_t block, uint64_t place, int thread, uint32_t mask, uint32_t came, const Waiting& missing)
{
    Fault fault(kinds::divergent_warp, site_of(place, load, 0), block);
    fault.thread = thread;
    fault.second = site_of(missing.place, load, 0);
    fault.other_thread = missing.first;
    fault.other_block = block;
    fault.text = harness::format("mask 0x%08x, came 0x%08x", mask, came);
    fault.sentence = "divergent warp: the operation at {at} in {who} of {block} waits for lanes that do not come "
                       "({text}): " + waiting_text(missing.count, "{other at}", "{other}");
    fault.other_sentence = waiting_text(missing.count, "this place", "{other}");
    return fault;
}

Fault mask_differs(uint64_t block, uint64_t place, int thread, uint32_t mask, int other, uint32_t other_mask)
{
    Fault fault(kinds::divergent_warp, site_of(place, load, 0), block);
    fault.thread = thread;
    fault.sentence =
        "divergent warp: " +
        (thread == other ? harness::format("a thread whose lane is not in the mask 0x%08x calls the operation", mask)
                         : harness::format("lanes meet with different masks, 0x%08x and 0x%08x", mask, other_mask)) +
        ": {who} at {at}, in {block}";
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
