// Work that the host has not waited for, and accesses by which the host could see it.
//
// Here a launch is over when it returns, so a host that does not wait would read the right values. On a GPU it reads
// old ones. So managed, pinned and registered memory that a launch or an asynchronous copy has used is closed to the
// host, until it has waited: for stores if the memory was only read, or else for all accesses. The handler of the
// signal asks here. The record of the last accesses to each word (Shadow) tells whether the host meets such work. If
// so, that is a race, and the memory is opened, so that the program goes on. If not, its page is opened for this kind
// of access. If other words of the page are in use, that is for one instruction, where the processor can stop after
// one (x86-64).
//
// A word that a kernel stores as volatile or atomic is a signal. A host that reads it may read on.
//
// The text that kernels print is kept here, too, until the host has waited for them.

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "../../common/base/error.h"
#include "../core/sinks/global_checker.h"
#include "../core/grid/simulator.h"
#include "address_range.h"
#include "notes.h"
#include "runtime.h"
#include "timeline.h"

namespace sim {
namespace {

using harness::format;

struct Use {
    Allocation* memory;
    Work work;
    bool stores;
};

struct Printed {
    Work work;
    std::string text;
};

// Never destroyed, because exit handlers use them.
auto& with_host = *new std::vector<Allocation*>;  // the shared memory
auto& uses = *new std::vector<Use>;
auto& printed = *new std::vector<Printed>;
std::mutex printing;  // kernels print from all host threads

uintptr_t page_bytes() { return uintptr_t(sysconf(_SC_PAGESIZE)); }

// Protects the pages of an allocation. Registered memory may share its first and last page with other data; memory of
// other kinds shares none.
void protect(const Allocation& a, int protection)
{
    const uintptr_t page = page_bytes();
    const bool inside = a.owner == Owner::registered;
    const uintptr_t begin = inside ? rounded(a.begin, page) : a.begin / page * page,
                    end = inside ? (a.begin + a.bytes) / page * page : rounded(a.begin + a.bytes, page);
    if (begin < end) mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

template <typename Over>
void end_uses(Over over)
{
    if (uses.empty()) return;
    protect_shared(PROT_READ | PROT_WRITE);
    uses.erase(std::remove_if(uses.begin(), uses.end(), over), uses.end());
    protect_shared(PROT_NONE);
}

bool waited_for(const Work& work) { return timeline().host().covers(work.queue, work.number); }

std::vector<Beside> not_waited_for() { return timeline().beside({-1}, timeline().host()); }

}  // namespace

void share_with_host(Allocation& memory) { with_host.push_back(&memory); }

bool shares_memory_with_host() { return !with_host.empty(); }

void end_sharing(const Allocation& memory)
{
    end_uses([&](const Use& use) { return use.memory == &memory; });
    with_host.erase(std::remove(with_host.begin(), with_host.end(), &memory), with_host.end());
}

void note_uses(const Work& work)
{
    static const bool once = [] {
        for_each_managed_variable([](Allocation& variable) { share_with_host(variable); });
        return true;
    }();
    (void)once;
    for (Allocation* a : with_host)
        if (const unsigned touched = std::exchange(a->touched, 0))
            uses.push_back({a, work, touched >= Allocation::stored});
}

void protect_shared(int protection)
{
    for (const Use& use : uses) protect(*use.memory, protection == PROT_NONE && !use.stores ? PROT_READ : protection);
    for (const Use& use : uses)
        if (use.stores) protect(*use.memory, protection);
}

Meeting host_meets_work(uintptr_t address, bool stores, const harness::FindingPlace& place, const std::string& where)
{
    const uintptr_t size = page_bytes(), page = address / size * size;
    const auto use = std::find_if(uses.begin(), uses.end(), [&](const Use& u) {
        return page < u.memory->begin + u.memory->bytes && u.memory->begin < page + size;
    });
    if (use == uses.end()) return Meeting::none;
    const Allocation& a = *use->memory;
    const std::vector<Beside> beside = not_waited_for();
    const Beside* met = nullptr;
    bool writes = false, signal = false;
    uint64_t byte = 0;
    uint32_t last = 0;  // when that word was accessed last
    const auto note = [&](const Beside& other, Site site, uint32_t time, uint64_t at) {
        const bool wrote = kind_of(site) != load;
        signal = signal || (wrote && strength_of(site) != as_data);
        if (met && (at != byte || time < last)) return;
        met = &other;
        writes = wrote;
        byte = at;
        last = time;
    };
    const auto look = [&](uintptr_t begin, uintptr_t end) {
        begin = std::max(begin, a.begin);
        end = std::min(end, a.begin + a.bytes);
        if (!a.shadow || begin >= end) return;
        begin_copy(blocks_run(), beside).look_beside(*a.shadow, begin - a.begin, end - begin, stores, note);
    };
    look(address, address / 8 * 8 + 8);
    if (signal) {
        end_uses([](const Use&) { return true; });
        return Meeting::harmless;
    }
    if (!met) {
        look(page, page + size);
        const int kind = stores ? PROT_READ | PROT_WRITE : PROT_READ;
        return mprotect(reinterpret_cast<void*>(page), size, kind) ? Meeting::none
               : met                                               ? Meeting::in_its_page
                                                                   : Meeting::harmless;
    }
    const std::string other = met->text();
    harness::Finding finding(
        kinds::race,
        format("race: %s: the host %s it at %s, and %s%s may not have %s it yet; wait for it first, with "
               "cudaDeviceSynchronize()",
               address_text(a.begin + byte).c_str(), stores ? "writes" : "reads", where.c_str(), other.c_str(),
               met->launch ? "," : "", writes ? "written" : "read"),
        place);
    finding.others.push_back(finding_place(uint64_t(met->place)));
    finding.others.back().text = met->text(writes);
    program_finding(finding, "host " + where + other);
    end_uses([&](const Use& u) { return u.memory == &a; });
    return Meeting::harmless;
}

void print_later(const Work& work, const char* text)
{
    const std::lock_guard<std::mutex> lock(printing);
    if (printed.empty() || printed.back().work.first != work.first) printed.push_back({work, ""});
    printed.back().text += text;
}

void host_has_waited()
{
    for (const Printed& p : printed)
        if (waited_for(p.work)) fwrite(p.text.data(), 1, p.text.size(), stdout);
    printed.erase(std::remove_if(printed.begin(), printed.end(), [](const Printed& p) { return waited_for(p.work); }),
                  printed.end());
    end_uses([](const Use& use) { return waited_for(use.work); });
}

std::vector<harness::Finding> launches_not_waited_for()
{
    std::vector<harness::Finding> findings;
    for (const Beside& launch : not_waited_for()) {
        if (!launch.launch) continue;
        std::string lost;
        for (const Printed& p : printed) {
            const int lines = int(std::count(p.text.begin(), p.text.end(), '\n'));
            if (p.work.first == launch.first)
                lost = format(", and what its printf says is lost (%d line%s)", lines, lines == 1 ? "" : "s");
        }
        findings.push_back(finding_of_call(kinds::not_waited_for, launch.place,
                                           "not waited for: the program ends before " + launch.text() +
                                               ", is known to be done" + lost +
                                               "; call cudaDeviceSynchronize() before the end"));
    }
    return findings;
}

}  // namespace sim
