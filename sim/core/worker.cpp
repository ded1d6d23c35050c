// From a stopped warp to counts and checks. In: blocks of a grid, taken from a common counter in chunks. Out: the
// host thread's own counts and findings, which grid.cpp adds up at the end.
//
// When a warp has stopped, its accesses become requests, in the order in which it made them. Each goes to the memory
// that its first lane accesses. A request whose lanes are in several memories is split as hardware splits it: by
// space, by shared array, by device. Each part is counted, checked for races, and traced if that is wanted.
//
// Invariant: no lock is taken for a request, because counter, checkers and findings are the host thread's own. The
// memory of the last request is looked at first, so the usual request needs no search.

#include "worker.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "../../common/base/error.h"
#include "faults.h"
#include "../elf/places.h"
#include "witness.h"

namespace sim {
namespace {

thread_local Worker* worker = nullptr;

}  // namespace

Worker* Worker::here() { return worker; }

Worker::Worker() : threads_(record_, *this) {}

void Worker::start(Grid& grid)
{
    worker = this;
    catch_faults();
    grid_ = &grid;
    block_size = {grid.block.x, grid.block.y, grid.block.z};
    grid_size = {grid.grid.x, grid.grid.y, grid.grid.z};
    const bool lockstep = grid.machine->lockstep;
    threads_.start(grid.block, grid.code->threads, grid.code->arguments, lockstep);
    shared_.start(grid.launching->kernel, grid.launching->configuration.shared_bytes);
    order_.start_launch(grid.earlier_blocks, lockstep, settings().exact);
    global_checker_.start(settings().beside);
    likely = {};
    std::fill(std::begin(misaligned_), std::end(misaligned_), Misaligned());
    next_misaligned_ = 0;
    recent_ = nullptr;
    counter.start(*grid.rules, *grid.machine, *grid.windows, grid.earlier_blocks);
}

// A copy is a launch of one block.
GlobalChecker& Worker::begin_copy(uint64_t block, const std::vector<Beside>& beside)
{
    if (order_.block() != block) {
        order_.start_launch(block - 1, false, true);
        order_.start_block(0);
    }
    global_checker_.start(&beside);
    return global_checker_;
}

void Worker::run_the_rest()
{
    for (;;) {
        const uint64_t first = grid_->next_block.fetch_add(grid_->chunk);
        if (first >= grid_->blocks || grid_->over()) break;
        for (uint64_t block = first; block < std::min(first + grid_->chunk, grid_->blocks) && !grid_->over(); ++block) {
            run_block(block);
            const uint64_t done = ++grid_->done;
            if (settings().block_done) settings().block_done(done, grid_->blocks);
        }
    }
    counter.finish();
    likely = {};  // the host is watched in another way
}

void Worker::run_block(uint64_t number)
{
    const dim3& grid = grid_->grid;
    const uint64_t block = grid_->block_at(number);
    block_index = {unsigned(block % grid.x), unsigned(block / grid.x % grid.y), unsigned(block / grid.x / grid.y)};
    block_ = block;
    counter.block(number, grid_->l1_share, unsigned(threads_.count() + warp_size - 1) / warp_size);
    order_.start_block(block);
    shared_.poison();
    if (witnessed) announce_memory(*this);
    sequence_warp_ = -1;
    if (std::exchange(has_locals_, false))
        for (auto& locals : locals_) locals.clear();
    std::fill(std::begin(doubtful_), std::end(doubtful_), 0);
    values_.clear();
    watching = true;
    threads_.run_block(grid_->alone);
    watching = false;
    most_shared_bytes = std::max(most_shared_bytes, shared_.static_bytes() + shared_.dynamic_bytes());
    shared_checker_.block_done(findings);
    global_checker_.block_done(findings);
}

void Worker::warp_stopped(int warp)
{
    if (sequence_warp_ != warp) {
        sequence_.clear();
        sequence_warp_ = warp;
        requests_ = 0;
        counter.warp_begins();
    }
    requests_ = record_.flush(requests_, order_.times(warp), [&](const Request& r) {
        if (settings().instruments) request(r, warp);
    });
    const auto barrier_of = [&](int thread) { return threads_.barrier_of(thread); };
    shared_checker_.warp_done(sequence_, barrier_of, findings);
    global_checker_.warp_done(sequence_, barrier_of, findings);
}

void Worker::barrier_opens()
{
    ++barriers;
    counter.barrier();
    order_.barrier();
    sequence_warp_ = -1;
}

void Worker::warp_syncs(int warp, uint32_t lanes)
{
    order_.meet(warp, lanes);
}

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

uint64_t Worker::changes() { return std::exchange(changes_, 0); }

// Adds the values that are new in their place to the hash of all changes, by which a block that hangs is found.
void Worker::note_change(const Request& request)
{
    if (kind_of(request.site) != store && kind_of(request.site) != atomic) return;
    for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) {
        const uint64_t address = request.address[__builtin_ctz(lanes)];
        if (address >= local_addresses) return;  // the hash of the stack has it already
        const uint64_t value = hash_of(address, reinterpret_cast<const void*>(address), bytes_of(request.site));
        if (std::exchange(values_[address], value) != value) changes_ = hash_of(changes_, &value, sizeof value);
    }
}

namespace {

// True if all lanes of a request access the range. Lanes that take no part have an address of no meaning.
bool all_in(const Request& request, uintptr_t begin, uint64_t bytes)
{
    const uintptr_t last = begin + bytes - 1;
    uint64_t outside = 0;  // negative after an address below `begin` or above `last`
    const auto look = [&](uint64_t address) { outside |= (address - begin) | (last - address); };
    if (uint64_t stride; request.evenly_spaced(stride)) {
        look(request.address[0]);
        look(request.address[warp_size - 1]);
    } else {
        for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) look(request.address[__builtin_ctz(lanes)]);
    }
    return !(outside >> 63);
}

}  // namespace

void Worker::request(const Request& request, int warp)
{
    if (__builtin_expect(threads_.runs_long(), 0)) note_change(request);
    if (__builtin_expect(doubtful_[warp], 0)) look_for_doubt(request, warp);
    sequence_.add(request.site);
    const uint64_t address = request.address[__builtin_ctz(request.lanes)];
    if (!recent_ || !recent_->holds(address)) {
        if (address >= local_addresses) return counter.count_local(request);
        if (const SharedArray* array = shared_.find(address)) return shared_request(request, warp, *array);
        recent_ = memory().find(address);
    }
    if (!shared_.empty() && !all_in(request, recent_->begin, recent_->bytes)) {
        if (const uint32_t here = lanes_in_shared(request)) return split_by_space(request, warp, here);
    }
    global_request(request, warp);
}

uint32_t Worker::lanes_in_shared(const Request& request)
{
    uint32_t here = 0;
    for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1)
        if (shared_.find(request.address[__builtin_ctz(lanes)])) here |= lanes & -lanes;
    return here;
}

// Some lanes have a pointer to shared memory, and some to global memory: hardware makes a request to each.
void Worker::split_by_space(const Request& request, int warp, uint32_t in_shared)
{
    Request part = request;
    part.lanes = in_shared;
    shared_request(part, warp, *shared_.find(request.address[__builtin_ctz(in_shared)]));
    part.lanes = request.lanes & ~in_shared;
    recent_ = memory().find(request.address[__builtin_ctz(part.lanes)]);
    global_request(part, warp);
}

void Worker::shared_request(const Request& request, int warp, const SharedArray& array)
{
    const bool one_array = all_in(request, array.begin, array.bytes);
    const uint32_t here = one_array ? request.lanes : lanes_in_shared(request);
    if (here != request.lanes) return split_by_space(request, warp, here);
    int units;
    const uint32_t site = sites_.number_of(request.site);
    if (one_array) shared_checker_.check(request, site, warp * warp_size, array, findings);
    if (one_array && array.offset % 256 == 0) {
        units = counter.count(request, Space::shared, array.offset - array.begin);
    } else {
        // The lanes may access several arrays. On hardware, arrays follow each other, and so do their banks.
        uint64_t offsets[warp_size];
        for (uint32_t left = request.lanes; left;) {
            const SharedArray& own = *shared_.find(request.address[__builtin_ctz(left)]);
            Request part = request;
            part.lanes = 0;
            for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
                const int lane = __builtin_ctz(lanes);
                if (!own.holds(request.address[lane])) continue;
                part.lanes |= 1u << lane;
                offsets[lane] = request.address[lane] - own.begin + own.offset;
            }
            left &= ~part.lanes;
            if (!one_array) shared_checker_.check(part, site, warp * warp_size, own, findings);
        }
        units = counter.count({request.site, request.lanes, offsets, request.order, request.times}, Space::shared, 0);
    }
    if (settings().trace) tell(request, warp, "shared", array.begin, array.offset, units, -1);
}

void Worker::global_request(const Request& request, int warp)
{
    if (__builtin_expect(settings().several, 0)) split_by_device(request, warp);
    else memory_request(request, warp, *recent_, false);
}

// Lanes that touch the memory of different devices form a request to each.
void Worker::split_by_device(const Request& request, int warp)
{
    for (uint32_t left = request.lanes; left;) {
        const Allocation* first = nullptr;
        uint32_t together = 0;
        for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            const uintptr_t address = request.address[lane];
            if (!recent_->holds(address)) recent_ = memory().find(address);
            if (!first) first = recent_;
            if (recent_->device == first->device) together |= 1u << lane;
        }
        left &= ~together;
        memory_request({request.site, together, request.address, request.order, request.times, request.recorded}, warp,
                       *first, first->device >= 0 && first->device != settings().device);
    }
}

void Worker::memory_request(const Request& request, int warp, const Allocation& target, bool far)
{
    if (target.shadow) {
        Request checked = request;
        // Constant memory is only copied to, mostly as a whole: one word tells whether such a copy meets the kernel.
        if (!target.counted) checked.lanes &= -checked.lanes;
        global_checker_.check(checked, sites_.number_of(request.site), warp * warp_size, target, findings);
    }
    if (!target.counted) return counter.count_constant(request);
    const Kind kind = kind_of(request.site);
    if (target.unwritten && kind == store)
        output_stored += uint64_t(request.lane_count()) * bytes_of(request.site);
    else if (target.unwritten || (kind == store && !target.constant)) unordered_possible = true;
    const uint64_t offset = target.gpu_address - target.begin;
    const int units = far ? counter.count_peer(request, target.device) : counter.count(request, global, offset);
    if (settings().trace) {
        const uint64_t address = request.address[__builtin_ctz(request.lanes)];
        tell(request, warp, target.name, target.begin, 0, units, far ? -1 : counter.partition(address + offset));
    }
}

void Worker::tell(const Request& request, int warp, const std::string& memory, uintptr_t begin, uint64_t offset,
                  int units, int partition)
{
    harness::TracedRequest t{{block_index.x, block_index.y, block_index.z},
                             warp,
                             threads_.barriers_passed(),
                             kind_of(request.site) != load,
                             memory,
                             line_of(return_address(request.site)),
                             bytes_of(request.site),
                             request.lanes,
                             {},
                             units,
                             partition};
    for (int lane = 0; lane < warp_size; ++lane)
        if (request.lanes >> lane & 1) t.offsets.push_back(int64_t(request.address[lane] - begin + offset));
    (*settings().trace)(t);
}

}  // namespace sim
