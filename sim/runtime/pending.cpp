// Work that the host has not waited for, and what of it the host could touch.
//
// Here a launch is over when it returns, so a host that does not wait would read the right values. On a GPU it reads
// old ones. So managed, pinned and registered memory that a launch or an asynchronous copy has touched is closed to the
// host, page by page, until the host has waited: for stores if it was only read, for all accesses if it was written. The
// host's access then raises a signal, whose handler asks here. The record of the last accesses to each word (Shadow)
// tells whether the host meets such a piece of work. If so, that is a race, and the memory is opened, so that the
// program goes on. If not, the page is opened for this kind of access.
//
// A word that a kernel writes with volatile or atomic accesses is a signal, and the host may wait for it. What the
// kernel wrote before is then the host's to read.
//
// What kernels print is kept here, too, until the host has waited for them.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "../../common/base/error.h"
#include "../core/global_checker.h"
#include "../core/simulator.h"
#include "address_range.h"
#include "notes.h"
#include "runtime.h"
#include "timeline.h"

namespace sim {
namespace {

using harness::format;

struct Use {
    Allocation* memory;
    int queue;
    uint32_t number;  // of the work in the queue
    bool stores;
};

struct Printed {
    int queue;
    uint32_t number;
    std::string text;
};

struct Unfinished {
    std::vector<Allocation*> shared;  // with the host
    std::vector<Use> uses;
    std::vector<Printed> outputs;
    std::mutex mutex;  // of the output: kernels print from all host threads
};

Unfinished& unfinished()
{
    static Unfinished& all = *new Unfinished;  // used until the very end
    return all;
}

void protect(const Allocation& a, int protection)
{
    const uintptr_t page = sysconf(_SC_PAGESIZE);
    // Registered memory shares its first and last page with other variables of the host.
    const Block* block = block_of(a.begin);
    const bool inside = block && block->owner == Owner::registered;
    const uintptr_t begin = inside ? rounded(a.begin, page) : a.begin / page * page,
                    end = inside ? (a.begin + a.bytes) / page * page : rounded(a.begin + a.bytes, page);
    if (begin < end) mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

// Removes the uses that `done` is true of, and opens what nothing uses any more.
template <typename Done>
void forget(Done done)
{
    std::vector<Use>& uses = unfinished().uses;
    const auto first = std::stable_partition(uses.begin(), uses.end(), [&](const Use& use) { return !done(use); });
    std::vector<Use> over(first, uses.end());
    uses.erase(first, uses.end());
    for (const Use& use : over) protect(*use.memory, PROT_READ | PROT_WRITE);
    if (!over.empty()) protect_pending(true);
}

}  // namespace

void share_with_host(Allocation& memory) { unfinished().shared.push_back(&memory); }

void end_sharing(const Allocation& memory)
{
    std::vector<Allocation*>& all = unfinished().shared;
    all.erase(std::remove(all.begin(), all.end(), &memory), all.end());
    forget([&](const Use& use) { return use.memory == &memory; });
}

void note_use(Allocation& memory, const Work& work, bool stores)
{
    if (std::count(unfinished().shared.begin(), unfinished().shared.end(), &memory))
        unfinished().uses.push_back({&memory, work.queue, work.number, stores});
}

void note_uses(const Work& work)
{
    static const bool variables_too = [] {
        for (const Variable& v : managed_variables()) share_with_host(*memory().find(v.symbol.address));
        return true;
    }();
    (void)variables_too;
    for (Allocation* a : unfinished().shared)
        if (const unsigned touched = std::exchange(a->touched, 0))
            unfinished().uses.push_back({a, work.queue, work.number, (touched & Allocation::stored) != 0});
}

void protect_pending(bool close)
{
    for (const Use& use : unfinished().uses)
        if (!close) protect(*use.memory, PROT_READ | PROT_WRITE);
        else if (!use.stores) protect(*use.memory, PROT_READ);
    for (const Use& use : unfinished().uses)
        if (close && use.stores) protect(*use.memory, PROT_NONE);
}

bool host_meets_work(uintptr_t address, bool stores, const harness::FindingPlace& place, const std::string& where)
{
    std::vector<Use>& uses = unfinished().uses;
    const auto use = std::find_if(uses.begin(), uses.end(), [&](const Use& u) {
        const uintptr_t page = sysconf(_SC_PAGESIZE);
        return address >= u.memory->begin / page * page && address < rounded(u.memory->begin + u.memory->bytes, page);
    });
    if (use == uses.end()) return false;
    Allocation& a = *use->memory;
    const std::vector<Beside> beside = timeline().beside({-1}, timeline().host());
    const Beside* met = nullptr;
    bool writes = false, signal = false;
    uint64_t byte = 0;
    const uint64_t offset = address - a.begin;
    if (a.shadow && a.holds(address))
        a.shadow->look(offset, std::min<uint64_t>(8 - address % 8, a.bytes - offset), [&](const Shadow::Cell& cell, uint64_t at) {
            const Beside* writer = cell.writer_block ? beside_of(cell.writer_block, beside) : nullptr;
            const Beside* reader = stores && cell.reader_block ? beside_of(cell.reader_block, beside) : nullptr;
            signal = signal || (writer && strength_of_actor(cell.writer) != as_data);
            if (met || !(writer || reader)) return;
            writes = !reader || (writer && cell.writer_block > cell.reader_block);
            met = writes ? writer : reader;
            byte = at;
        });
    if (signal) {
        forget([&](const Use&) { return true; });
        return true;
    }
    if (!met) {
        const uintptr_t page = sysconf(_SC_PAGESIZE);
        const int kind = stores ? PROT_READ | PROT_WRITE : PROT_READ;
        return mprotect(reinterpret_cast<void*>(address / page * page), page, kind) == 0;
    }
    const std::string other = met->text();
    harness::FindingRecord finding{
        &kinds::race, "",
        format("race: %s: the host %s it at %s, and %s%s may not have %s it yet; wait for it first, with "
               "cudaDeviceSynchronize()",
               address_text(a.begin + byte).c_str(), stores ? "writes" : "reads", where.c_str(), other.c_str(),
               met->launch ? "," : "", writes ? "written" : "read"),
        place, {}, 1};
    finding.others.push_back(finding_place(uint64_t(met->place)));
    finding.others.back().text = met->text(writes);
    program_finding(finding, "host " + where + other);
    forget([&](const Use& u) { return u.memory == &a; });
    return true;
}

void print_later(const Work& work, const char* text)
{
    Unfinished& p = unfinished();
    const std::lock_guard<std::mutex> lock(p.mutex);
    if (p.outputs.empty() || p.outputs.back().queue != work.queue || p.outputs.back().number != work.number)
        p.outputs.push_back({work.queue, work.number, ""});
    p.outputs.back().text += text;
}

void host_has_waited()
{
    Unfinished& p = unfinished();
    const Clock& host = timeline().host();
    std::vector<Printed> later;
    for (Printed& output : p.outputs)
        if (!host.covers(output.queue, output.number)) later.push_back(std::move(output));
        else fwrite(output.text.data(), 1, output.text.size(), stdout);
    p.outputs.swap(later);
    if (!p.uses.empty()) forget([&](const Use& use) { return host.covers(use.queue, use.number); });
}

std::vector<harness::FindingRecord> not_waited_for()
{
    std::vector<harness::FindingRecord> findings;
    for (const Beside& launch : timeline().beside({-1}, timeline().host())) {
        if (!launch.launch) continue;
        const auto output = std::find_if(unfinished().outputs.begin(), unfinished().outputs.end(), [&](const Printed& o) {
            return o.number == launch.number && o.queue == launch.queue;
        });
        const auto lines = output == unfinished().outputs.end() ? 0 : std::count(output->text.begin(), output->text.end(), '\n');
        findings.push_back(finding_of_call(
            kinds::not_waited_for, launch.place,
            "not waited for: the program ends before " + launch.text() + " is known to be done" +
                (output == unfinished().outputs.end() ? "" : format(", so that its printf, of %d line%s, is lost", int(lines), lines == 1 ? "" : "s")) +
                "; call cudaDeviceSynchronize() before the end, and check what it returns"));
    }
    return findings;
}

}  // namespace sim
