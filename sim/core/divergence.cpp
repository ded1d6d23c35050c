// Findings on threads that do not meet: at a barrier, in an operation of a warp, or never, because they do not end. In:
// who waits where, as threads.cpp found it. Out: a finding.

#include "../../common/base/error.h"
#include "../elf/places.h"
#include "worker.h"

namespace sim {

void Worker::barriers_differ(const Waiting& first, const Waiting& second, int elsewhere)
{
    Finding finding(kinds::divergent_barrier, site_of(first.place, load, 0), block_);
    finding.thread = first.first;
    finding.second = site_of(second.place, load, 0);
    finding.other_thread = second.first;
    finding.other_block = block_;
    finding.sentence = "divergent barrier: the threads of {block} do not come to the same one: " +
                       waiting_text(first.count, "{at}", "{who}") + ", " +
                       waiting_text(second.count, "{other at}", "{other}") +
                       (elsewhere ? harness::format(", %d elsewhere", elsewhere) : "");
    finding.other_sentence = waiting_text(second.count, "this place", "{other}");
    findings.add(finding);
}

void Worker::add(const FindingKind& kind, uint64_t place, int thread, const std::string& text, bool asserted)
{
    Finding finding(kind, site_of(place, load, 0), block_);
    finding.thread = thread;
    finding.text = text;
    finding.asserted = asserted;
    findings.add(finding);
}

void Worker::barrier_missed(uint64_t place, int missing)
{
    Finding finding(kinds::divergent_barrier, site_of(place, load, 0), block_);
    finding.thread = missing;
    finding.sentence = "divergent barrier: the one at {at} is not reached by every thread of {block}: not by {who}, "
                       "which has left the kernel; from compute capability 7.0 on, it need not come";
    findings.add(finding);
}

void Worker::barrier_passed_by(const Waiting& here, const Waiting& missing)
{
    Finding finding(kinds::divergent_barrier, site_of(here.place, load, 0), block_);
    finding.thread = here.first;
    finding.other_thread = missing.first;
    finding.sentence = "divergent barrier: not all threads of {block} come to it: " +
                       waiting_text(here.count, "{at}", "{who}") +
                       harness::format(", and %d of the same warps pass it by and leave the kernel (%s{other}); put "
                                       "the barrier where all threads come",
                                       missing.count, missing.count > 1 ? "the first is " : "");
    findings.add(finding);
}

void Worker::lanes_missed(uint64_t place, int thread, uint32_t mask, uint32_t came, const Waiting& missing)
{
    Finding finding(kinds::divergent_warp, site_of(place, load, 0), block_);
    finding.thread = thread;
    finding.second = site_of(missing.place, load, 0);
    finding.other_thread = missing.first;
    finding.other_block = block_;
    finding.text = harness::format("mask 0x%08x, came 0x%08x", mask, came);
    finding.sentence = "divergent warp: the operation at {at} in {who} of {block} waits for lanes that do not come "
                       "({text}): " + waiting_text(missing.count, "{other at}", "{other}");
    finding.other_sentence = waiting_text(missing.count, "this place", "{other}");
    findings.add(finding);
}

void Worker::mask_differs(uint64_t place, int thread, uint32_t mask, int other, uint32_t other_mask)
{
    Finding finding(kinds::divergent_warp, site_of(place, load, 0), block_);
    finding.thread = thread;
    finding.sentence =
        "divergent warp: " +
        (thread == other ? harness::format("a thread whose lane is not in the mask 0x%08x calls the operation", mask)
                         : harness::format("lanes meet with different masks, 0x%08x and 0x%08x", mask, other_mask)) +
        ": {who} at {at}, in {block}";
    findings.add(finding);
}

void Worker::note_absent(unsigned source, uint32_t mask, bool spare, uint64_t place)
{
    const int thread = threads_.current(), warp = thread / warp_size, other = warp * warp_size + int(source);
    Finding finding(kinds::divergent_warp, site_of(place, load, 0), block_);
    finding.thread = thread;
    finding.sentence = harness::format("divergent warp: a shuffle reads lane %u, which {text}, so the value is "
                                       "undefined: {who} at {at}, in {block}", source);
    finding.text = other >= threads_.count()  ? "the block does not have"
                   : !(mask >> source & 1)    ? "is not in the mask"
                   : threads_.has_left(other) ? "has left the kernel"
                                              : "takes no part in it";
    if (!spare) return findings.add(finding);
    doubts_.resize(Fibers::most);
    doubts_[thread] = finding;
    doubtful_[warp] |= 1u << thread % warp_size;
}

// Looks at the first access of a lane after it has read an undefined value. A store is taken for a store of this value.
void Worker::look_for_doubt(const Request& request, int warp)
{
    for (uint32_t lanes = request.lanes & doubtful_[warp]; lanes; lanes &= lanes - 1)
        if (kind_of(request.site) != load) findings.add(doubts_[warp * warp_size + __builtin_ctz(lanes)]);
    doubtful_[warp] &= ~request.lanes;
}

void Worker::never_ends(uint64_t place, int thread, bool stuck, const Arrivals* awaited)
{
    grid_->endless = true;
    std::string text = harness::format("more than %llu turns", (unsigned long long)most_turns());
    if (stuck && awaited)
        text = harness::format("the barrier expects %u arrivals, %u came, and no thread is left that could arrive",
                               awaited->expected, awaited->expected - awaited->missing);
    else if (stuck)
        text = "every turn is like the last one, and neither the host nor another thread of the block changes that";
    const uint64_t later = grid_->blocks - grid_->done - 1;
    if (stuck && later && !(awaited && shared_.find(uintptr_t(awaited->barrier))))
        text += harness::format("; blocks run one after another here, and %llu of %llu have not begun",
                                (unsigned long long)later, (unsigned long long)grid_->blocks);
    add(kinds::endless_loop, place, thread, "endless loop: " + text);
}

}  // namespace sim
