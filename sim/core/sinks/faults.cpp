// From faults to findings. The text says what was done, by which thread of which block, to which memory and at which
// line, and what to do about it. The same fault at the same places is one with a count, and the thread that is named is
// that of the first block.

#include "faults.h"

#include "../../../common/base/error.h"
#include "../../elf/columns.h"
#include "../../elf/places.h"

namespace sim {
namespace {

using harness::format;

harness::Index index_in(uint64_t linear, dim3 of)
{
    return {linear % of.x, linear / of.x % of.y, linear / of.x / of.y};
}

std::string line_text(uint64_t return_address)
{
    const Place place = place_of(return_address);
    return place.file.empty() ? "an unknown line" : format("%s:%d", place.file.c_str(), place.line);
}

}  // namespace

bool same_place(Site a, Site b)
{
    return a == b || (uint64_t(a) >> 32 == uint64_t(b) >> 32 &&
                      place_number(return_address(a)) == place_number(return_address(b)));
}

bool same_fault(const Fault& a, const Fault& b)
{
    return a.kind == b.kind && same_place(a.first, b.first) && same_place(a.second, b.second);
}

void Faults::add(const Fault& fault)
{
    for (Fault& known : list)
        if (same_fault(known, fault) && known.text == fault.text) {
            const uint64_t count = known.count + fault.count;
            if (fault.block < known.block) known = fault;  // blocks run in any order: name the first
            known.count = count;
            return;
        }
    list.push_back(fault);
}

namespace {

// Writes the sentences of one finding.
class Sentence {
public:
    Sentence(const Fault& fault, dim3 grid, dim3 block) : f_(fault), grid_(grid), block_(block) {}

    std::string text(Remedy remedy) const
    {
        if (!f_.sentence.empty()) return filled(f_.sentence);
        if (f_.beside)
            return filled("race: byte {offset} of {memory}: {who} at {at}, in {block}, " + does(f_.first) +
                          " it and {text}; nothing orders the two" +
                          (remedy == Remedy::event ? ": record an event after the first, and let the second wait for it"
                                                   : ""));
        if (f_.kind == &kinds::race) return filled(race());
        if (f_.kind == &kinds::host_access)
            return filled("the host accesses device memory: {access} of {bytes} bytes at byte {offset} of {memory}, "
                          "at {at}");
        const std::string there = ": {who} at {at}, in {block}";
        const bool null = uint64_t(f_.offset) < 1 << 22;  // no program has anything there
        if (f_.kind == &kinds::host_pointer && f_.text.empty())
            return filled((null ? "null pointer: a {access} of {bytes} bytes at address {offset}"
                                : "host pointer: a {access} of {bytes} bytes of memory that is not the device's") +
                          there);
        if (f_.memory.empty()) return filled("{text}" + there);
        return filled(std::string(f_.kind->title) + " of {bytes} bytes at byte {offset} of {memory}" + there +
                      (f_.text.empty() ? "" : "; {text}"));
    }

    std::string other_text() const
    {
        if (!f_.other_sentence.empty()) return filled(f_.other_sentence);
        return filled("{other} of {other block} " + does(f_.second) + " here");
    }

private:
    static std::string does(Site site) { return kind_of(site) == load ? "reads" : "writes"; }

    std::string race() const
    {
        const bool first = kind_of(f_.first) != load, second = kind_of(f_.second) != load;
        const std::string hazard = !first ? "write-after-read" : second ? "write-after-write" : "read-after-write";
        const std::string begin = "race: " + hazard + " hazard in {memory}, byte {offset}: {who} ";
        const std::string advice =
            f_.signal ? "; both change another word, too: if that is a signal, call __threadfence() before the change "
                        "that gives it, and after the one that takes it"
            : first && second && same_place(f_.first, f_.second)
                ? "; if both have the same index, a barrier does not help"
                : "";
        if (f_.space == harness::global && f_.block != f_.other_block)
            return begin + "of {block} " + does(f_.first) + " at {at} and {other} of {other block} " + does(f_.second) +
                   " at {other at}, and blocks run in any order" + advice;
        const std::string between = f_.barrier ? "a barrier between, at {barrier}, where only {waiting} of both waits"
                                               : "no barrier between";
        return begin + does(f_.first) + " at {at} and {other} " + does(f_.second) + " at {other at}, with " + between +
               ", in {block}" + advice;
    }

    static std::string index_text(const char* what, const harness::Index& i)
    {
        return format("%s (%llu, %llu, %llu)", what, (unsigned long long)i[0], (unsigned long long)i[1],
                      (unsigned long long)i[2]);
    }
    std::string thread(int linear) const { return index_text("thread", index_in(uint64_t(linear), block_)); }
    std::string block(uint64_t linear) const { return index_text("block", index_in(linear, grid_)); }

    std::string value_of(const std::string& name) const
    {
        return name == "who"           ? thread(f_.thread)
               : name == "at"          ? line_text(return_address(f_.first))
               : name == "block"       ? block(f_.block)
               : name == "other"       ? thread(f_.other_thread)
               : name == "other at"    ? line_text(return_address(f_.second))
               : name == "other block" ? block(f_.other_block)
               : name == "barrier"     ? line_text(f_.barrier)
               : name == "waiting"     ? thread(f_.waiting)
               : name == "memory"      ? f_.memory
               : name == "offset"      ? std::to_string(f_.offset)
               : name == "access"      ? (kind_of(f_.first) == load ? "load" : "store")
               : name == "bytes"       ? std::to_string(bytes_of(f_.first))
                                       : f_.text;
    }

    // The pattern with a value for each name in braces.
    std::string filled(const std::string& pattern) const
    {
        std::string text;
        size_t at = 0;
        for (size_t open; (open = pattern.find('{', at)) != pattern.npos;) {
            const size_t close = pattern.find('}', open);
            text += pattern.substr(at, open - at) + value_of(pattern.substr(open + 1, close - open - 1));
            at = close + 1;
        }
        return text + pattern.substr(at);
    }

    const Fault& f_;
    const dim3 grid_, block_;
};

}  // namespace

harness::FindingPlace finding_place(uint64_t return_address)
{
    const Place place = place_of(return_address);
    harness::FindingPlace found;
    found.file = place.file;
    found.path = place.path;
    found.line = place.line;
    found.column = source_column(place.path, place.line, place.column);
    found.source = place.text;
    return found;
}

harness::Finding finding_of(const Fault& f, const std::string& kernel, dim3 grid, dim3 block, Remedy remedy)
{
    const Sentence sentence(f, grid, block);
    harness::Finding record(*f.kind, sentence.text(remedy), finding_place(return_address(f.first)));
    record.kernel = kernel;
    record.count = f.count;
    record.memory = f.memory;
    record.in_shared_memory = f.space == harness::shared;
    if (f.memory_bytes) record.reach = harness::Reach{f.offset, bytes_of(f.first), f.memory_bytes};
    if (f.kind == &kinds::host_access) return record;
    record.place.block = index_in(f.block, grid);
    record.place.thread = index_in(uint64_t(f.thread), block);
    if (f.second) {
        harness::FindingPlace other = finding_place(return_address(f.second));
        other.text = sentence.other_text();
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
