// The text of findings. Each says what was done, by which thread of which block, to which memory and at which line,
// and what to do about it. The same fault at the same places is one finding with a count, and the thread that is
// named is that of the first block.

#include "findings.h"

#include "../../common/base/error.h"
#include "../elf/columns.h"
#include "../elf/places.h"
#include "finding_kinds.h"

namespace sim {
namespace {

using harness::format;

std::string thread_text(int thread, dim3 block)
{
    return format("thread (%u, %u, %u)", thread % block.x, thread / block.x % block.y, thread / block.x / block.y);
}

std::string block_text(uint64_t block, dim3 grid)
{
    return format("block (%llu, %llu, %llu)", (unsigned long long)(block % grid.x),
                  (unsigned long long)(block / grid.x % grid.y), (unsigned long long)(block / grid.x / grid.y));
}

std::string line_text(Site site)
{
    const Place place = place_of(return_address(site));
    return place.file.empty() ? "an unknown line" : format("%s:%d", place.file.c_str(), place.line);
}

// Threads that wait at one place.
std::string group_text(int threads, const std::string& place, const std::string& first)
{
    return threads == 1 ? format("1 waits at %s (%s)", place.c_str(), first.c_str())
                        : format("%d wait at %s (the first is %s)", threads, place.c_str(), first.c_str());
}

}  // namespace

bool same_place(Site a, Site b)
{
    return a == b || (uint64_t(a) >> 32 == uint64_t(b) >> 32 &&
                      place_number(return_address(a)) == place_number(return_address(b)));
}

bool same_fault(const Finding& a, const Finding& b)
{
    return a.fault == b.fault && same_place(a.first, b.first) && same_place(a.second, b.second);
}

void Findings::add(const Finding& finding)
{
    for (Finding& known : list)
        if (same_fault(known, finding) && (known.text == finding.text || finding.fault == Fault::mask_differs)) {
            known.count += finding.count;
            // Blocks run in any order: name the first.
            if (finding.block < known.block) {
                const uint64_t count = known.count;
                known = finding;
                known.count = count;
            }
            return;
        }
    list.push_back(finding);
}

namespace {

std::string finding_text(const Finding& f, dim3 grid, dim3 block, Remedy remedy)
{
    const std::string who = thread_text(f.thread, block), other = thread_text(f.other_thread, block);
    const std::string at = line_text(f.first), other_at = f.second ? line_text(f.second) : "",
                      in = block_text(f.block, grid);
    const unsigned bytes = bytes_of(f.first);
    const std::string advice =
        f.signal ? "; both change another word, too: if that is a signal, call __threadfence() before the change that "
                   "gives it, and after the one that takes it"
        : f.fault == Fault::write_after_write && same_place(f.first, f.second)
            ? "; if both have the same index, a barrier does not help"
            : "";
    const auto race = [&](const char* hazard, const char* does, const char* then) {
        const std::string where =
            format("race: %s hazard in %s, byte %lld: ", hazard, f.memory.c_str(), (long long)f.offset);
        if (f.global && f.block != f.other_block)
            return where + format("%s of %s %s at %s and %s of %s %s at %s, and blocks run in any order", who.c_str(),
                                  in.c_str(), does, at.c_str(), other.c_str(), block_text(f.other_block, grid).c_str(),
                                  then, other_at.c_str()) + advice;
        const std::string between =
            !f.barrier ? "no barrier between"
                       : format("a barrier between, at %s, where only %s of both waits",
                                line_text(site_of(f.barrier, load, 0)).c_str(), thread_text(f.waiting, block).c_str());
        return where + format("%s %s at %s and %s %s at %s, with %s, in %s", who.c_str(), does, at.c_str(),
                              other.c_str(), then, other_at.c_str(), between.c_str(), in.c_str()) + advice;
    };
    const auto access = [&](const char* what) {
        return format("%s of %u bytes at byte %lld of %s: %s at %s, in %s", what, bytes, (long long)f.offset,
                      f.memory.c_str(), who.c_str(), at.c_str(), in.c_str());
    };
    const auto plain = [&](const std::string& what) {
        return format("%s: %s at %s, in %s", what.c_str(), who.c_str(), at.c_str(), in.c_str());
    };
    switch (f.fault) {
        case Fault::read_after_write: return race("read-after-write", "writes", "reads");
        case Fault::write_after_read: return race("write-after-read", "reads", "writes");
        case Fault::write_after_write: return race("write-after-write", "writes", "writes");
        case Fault::race_beside:
            return format("race: byte %lld of %s: %s at %s, in %s, %s it and %s; nothing orders the two%s",
                          (long long)f.offset, f.memory.c_str(), who.c_str(), at.c_str(), in.c_str(),
                          kind_of(f.first) == load ? "reads" : "writes", f.text.c_str(),
                          remedy == Remedy::event ? ": record an event after the first, and let the second wait for it"
                                                  : "");
        case Fault::out_of_bounds_load: return access("out-of-bounds load") + (f.text.empty() ? "" : "; " + f.text);
        case Fault::out_of_bounds_store: return access("out-of-bounds store") + (f.text.empty() ? "" : "; " + f.text);
        case Fault::store_to_input: return access("store to the input,");
        case Fault::use_after_free: return access("use after free,");
        case Fault::host_memory:
            if (!f.text.empty()) return plain("host pointer: " + f.text);
            // Below this address, no program has anything.
            return plain(format(uint64_t(f.offset) < 1 << 22 ? "null pointer: a %s of %u bytes at address %lld"
                                                             : "host pointer: a %s of %u bytes of memory that is not "
                                                               "the device's",
                                kind_of(f.first) == load ? "load" : "store", bytes, (long long)f.offset));
        case Fault::no_peer_access:
            return access(kind_of(f.first) == load ? "no peer access: a load" : "no peer access: a store") + "; " +
                   f.text;
        case Fault::host_access:
            return format("the host accesses device memory: %s of %u bytes at byte %lld of %s, at %s",
                          kind_of(f.first) == load ? "load" : "store", bytes, (long long)f.offset, f.memory.c_str(),
                          at.c_str());
        case Fault::misaligned: return access("misaligned access") + f.text;
        case Fault::uninitialized: return access("uninitialized load") + f.text;
        case Fault::barriers_differ:
            return format("divergent barrier: the threads of %s do not come to the same one: %s, %s%s", in.c_str(),
                          group_text(f.threads.first, at, who).c_str(),
                          group_text(f.threads.second, other_at, other).c_str(),
                          f.threads.elsewhere ? format(", %d elsewhere", f.threads.elsewhere).c_str() : "");
        case Fault::barrier_not_reached:
            return format("divergent barrier: the one at %s is not reached by every thread of %s: not by %s, "
                          "which has left the kernel; from compute capability 7.0 on, it need not come",
                          at.c_str(), in.c_str(), who.c_str());
        case Fault::barrier_passed_by:
            return format("divergent barrier: not all threads of %s come to it: %s, and %d of the same warps pass it "
                          "by and leave the kernel (%s%s); put the barrier where all threads come",
                          in.c_str(), group_text(f.threads.first, at, who).c_str(), f.threads.second,
                          f.threads.second > 1 ? "the first is " : "", other.c_str());
        case Fault::mask_differs:
            return plain("divergent warp: " + f.text);
        case Fault::absent_lane:
            return plain(format("divergent warp: a shuffle reads lane %d, which %s, so the value is undefined",
                                f.other_thread, f.text.c_str()));
        case Fault::lanes_not_reached:
            return format("divergent warp: the operation at %s in %s of %s waits for lanes that do not come (%s): %s",
                          at.c_str(), who.c_str(), in.c_str(), f.text.c_str(),
                          group_text(f.threads.second, other_at, other).c_str());
        case Fault::bad_free: return plain("bad free: " + f.text);
        case Fault::local_array: return plain(f.text);
        case Fault::stack_overflow:
            return plain("local memory: a thread has more local variables than the 512 kB that CUDA allows");
        case Fault::endless_loop: return plain("endless loop: " + f.text);
        case Fault::failed: return plain(f.text);
    }
    return "";
}

const harness::FindingKind& kind_of_fault(Fault fault)
{
    switch (fault) {
        case Fault::read_after_write:
        case Fault::write_after_read:
        case Fault::write_after_write:
        case Fault::race_beside:
            return kinds::race;
        case Fault::out_of_bounds_load:
            return kinds::out_of_bounds_load;
        case Fault::out_of_bounds_store:
            return kinds::out_of_bounds_store;
        case Fault::store_to_input:
            return kinds::store_to_input;
        case Fault::use_after_free:
            return kinds::use_after_free;
        case Fault::host_memory:
            return kinds::host_pointer;
        case Fault::no_peer_access:
            return kinds::no_peer_access;
        case Fault::host_access:
            return kinds::host_access;
        case Fault::misaligned:
            return kinds::misaligned_access;
        case Fault::uninitialized:
            return kinds::uninitialized_load;
        case Fault::barriers_differ:
        case Fault::barrier_not_reached:
        case Fault::barrier_passed_by:
            return kinds::divergent_barrier;
        case Fault::lanes_not_reached:
        case Fault::mask_differs:
        case Fault::absent_lane:
            return kinds::divergent_warp;
        case Fault::bad_free:
            return kinds::bad_free;
        case Fault::local_array:
            return kinds::local_array;
        case Fault::stack_overflow:
            return kinds::local_memory;
        case Fault::endless_loop:
            return kinds::endless_loop;
        case Fault::failed:
            return kinds::kernel_failed;
    }
    return kinds::kernel_failed;
}

harness::Index index_in(uint64_t linear, dim3 of)
{
    return {linear % of.x, linear / of.x % of.y, linear / of.x / of.y};
}

// The text of a finding's second place.
std::string other_text(const Finding& f, dim3 grid, dim3 block)
{
    const std::string who = thread_text(f.other_thread, block);
    const auto does = [&](const char* what) {
        return who + " of " + block_text(f.other_block, grid) + " " + what + " here";
    };
    switch (f.fault) {
        case Fault::read_after_write:
            return does("reads");
        case Fault::write_after_read:
        case Fault::write_after_write:
            return does("writes");
        default:
            return group_text(f.threads.second, "this place", who);
    }
}

}  // namespace

harness::FindingPlace finding_place(uint64_t return_address)
{
    const Place place = place_of(return_address);
    harness::FindingPlace found;
    found.file = place.file;
    found.line = place.line;
    found.column = source_column(place.path, place.line, place.column);
    found.source = place.text;
    return found;
}

harness::FindingRecord finding_record(const Finding& f, const std::string& kernel, dim3 grid, dim3 block, Remedy remedy)
{
    harness::FindingRecord record{&kind_of_fault(f.fault),
                                  kernel,
                                  finding_text(f, grid, block, remedy),
                                  finding_place(return_address(f.first)),
                                  {},
                                  f.count};
    if (f.fault == Fault::host_access) return record;
    record.place.block = index_in(f.block, grid);
    record.place.thread = index_in(uint64_t(f.thread), block);
    if (f.second) {
        harness::FindingPlace other = finding_place(return_address(f.second));
        other.text = other_text(f, grid, block);
        other.block = index_in(f.other_block, grid);
        other.thread = index_in(uint64_t(f.other_thread), block);
        record.others.push_back(other);
    }
    if (f.beside) {
        harness::FindingPlace other = finding_place(f.beside);
        other.text = f.text;
        record.others.push_back(other);
    }
    return record;
}

}  // namespace sim
