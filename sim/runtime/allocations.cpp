// The record of what the program has allocated.
//
// Each is an Allocation in the core's table, where kernels' accesses are looked up. Freed ones stay there, so that an
// access to freed memory is recognized and named. The host may not touch the devices' ranges: they are closed but for
// kernels and copies, between open_device_memory() and close_device_memory(). A search by address is logarithmic in the
// allocations that the program ever made.

#include "allocations.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>

#include "../../common/base/error.h"
#include "../../common/base/limits.h"
#include "../core/sinks/global_checker.h"
#include "devices.h"
#include "notes.h"
#include "options.h"

namespace sim {

using harness::format;

namespace {

constexpr uint64_t most_reserved = uint64_t(1) << 41;

// One share of the addresses that are reserved. Half of the addresses of the process (ulimit -v) are left to the
// program.
uint64_t reserved(int shares) { return std::min(most_reserved, harness::address_limit() / 2 / shares); }

uint64_t left(uint64_t of, uint64_t used) { return of - std::min(of, used); }

void note_account(const Allocation& a)
{
    if (!a.shadow || !a.shadow->gave_up()) return;
    if (!a.shadow->began())
        return program_note(a.name + " is too large for the search for races and uninitialized loads");
    program_note("the search for races and uninitialized loads in " + a.name +
                 " ended early, because its record took too much memory; what it found before holds");
}

bool must_be_freed(const Allocation& a) { return !a.freed && a.owner != Owner::none && a.owner != Owner::registered; }

// Gives the pages back, and keeps the addresses.
void give_back(const Allocation& a, bool close)
{
    const uintptr_t host_page = sysconf(_SC_PAGESIZE);
    const uintptr_t begin = rounded(a.begin, host_page),
                    end = (a.begin + a.bytes + (close ? host_page - 1 : 0)) / host_page * host_page;
    if (begin >= end) return;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    if (close) mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE);
}

}  // namespace

Allocated::Allocated() : shared(managed_address, reserved(device_count() + 1))
{
    for (int device = 0; device < device_count(); ++device) devices.emplace_back(0, reserved(device_count() + 1));
}

void Allocated::protect(int protection) const
{
    for (const AddressRange& reserve : devices) reserve.protect(protection);
    protect_variables(protection);
    protect_shared(protection);
}

Allocated& allocated()
{
    static Allocated& allocated = *new Allocated;  // never destroyed: exit handlers use it
    return allocated;
}

uint64_t free_host_memory(int device)
{
    static const uint64_t host =
        harness::available_memory();  // as it was at first: most of what is in use may not have been touched
    const auto& used = allocated().in_use;
    return std::min(left(host, std::accumulate(std::begin(used), std::end(used), uint64_t(0))),
                    allocated().devices[size_t(device)].room());
}

uint64_t free_device_memory(int device) { return left(total_memory(), allocated().in_use[device]); }

std::string allocation_name(const char* function, int device, const void* place)
{
    const std::string variable = first_argument(place, function),
                      where = at(place) + (device >= 0 && device_count() > 1 ? format(", device %d", device) : "");
    return (variable.empty() ? "memory from " + std::string(function) : variable + " (" + function) + " " + where +
           (variable.empty() ? "" : ")");
}

void add_allocation(Owner owner, int device, const char* function, uintptr_t begin, uint64_t bytes,
                    uint64_t gpu_address, unsigned flags, const void* place)
{
    Allocation& a = memory().add({begin, bytes, gpu_address, allocation_name(function, device, place)});
    a.device = device;
    a.owner = owner;
    a.current_device = device < 0 ? current_device() : device;
    a.flags = flags;
    a.number = ++allocated().allocations;
    a.place = place;
    a.shadow = std::make_shared<Shadow>(bytes);
    // This memory counts as written: the simulator does not see what the host writes there, and does not know what
    // blocks outside of a sample would have written.
    if (owner != Owner::device || program_options().blocks) a.shadow->note_written(0, bytes);
    if (owner != Owner::device) share_with_host(a);
    else allocated().in_use[device] += bytes;
}

void mark_freed(Allocation& a, const std::string& where)
{
    a.freed = true;
    note_account(a);
    end_sharing(a);
    a.shadow.reset();
    a.freed_at = where;
    if (a.owner == Owner::device) allocated().in_use[a.device] -= a.bytes;
    give_back(a, a.owner != Owner::device);
}

void count_as_written()
{
    for (const auto& a : memory().all())
        if (a->shadow && !a->freed) a->shadow->note_written(0, a->bytes);
}

uint64_t total_memory() { return machine().dram_bytes; }

void open_device_memory()
{
    const RuntimeLock lock;
    if (allocated().open++ == 0) allocated().protect(PROT_READ | PROT_WRITE);
}

void close_device_memory()
{
    const RuntimeLock lock;
    if (--allocated().open == 0) allocated().protect(PROT_NONE);
}

bool in_device_range(uintptr_t address)
{
    const std::vector<AddressRange>& all = allocated().devices;
    return among_variables(address) ||
           std::any_of(all.begin(), all.end(), [&](const AddressRange& reserve) { return reserve.holds(address); });
}

int device_at(uintptr_t address)
{
    const Allocation* a = allocation_at(address);
    return a ? a->device : -1;
}

Allocation* allocation_at(uintptr_t address)
{
    Allocation* const a = memory().find(address);
    return a && a->owner != Owner::none ? a : nullptr;
}

bool in_device_heap(uintptr_t address)
{
    const Variable* v = variable_of(address);
    return v && v->record->name == std::string_view("device_heap");
}

std::string address_text(uintptr_t address)
{
    const auto in = [&](const Allocation& a) {
        const int64_t offset = int64_t(address - a.begin);
        if (offset < 0) return format("%lld bytes before %s", -(long long)offset, a.name.c_str());
        if (uint64_t(offset) >= a.bytes)
            return format("%llu bytes beyond the end of %s", (unsigned long long)(offset - a.bytes), a.name.c_str());
        return format("byte %lld of %s", (long long)offset, a.name.c_str());
    };
    if (const Allocation* a = allocation_at(address))
        return in(*a) + (a->freed ? ", which was freed " + a->freed_at : "");
    if (const Variable* v = variable_of(address))
        return in({v->begin, v->record->bytes, 0, v->record->name});
    const Allocation* a =
        in_device_range(address) || allocated().shared.holds(address) ? memory().nearest(address) : nullptr;
    return a ? in(*a) : format("%p", reinterpret_cast<void*>(address));
}

void free_everything(int device)
{
    for (const auto& a : memory().all())
        if (must_be_freed(*a) && a->current_device == device) mark_freed(*a, "by cudaDeviceReset");
}

void note_accounts()
{
    for (const auto& allocation : memory().all()) note_account(*allocation);
}

std::vector<harness::Finding> never_freed()
{
    std::vector<const Allocation*> left;
    for (const auto& a : memory().all())
        if (must_be_freed(*a)) left.push_back(a.get());
    std::sort(left.begin(), left.end(), [](auto* a, auto* b) { return a->number < b->number; });
    std::vector<harness::Finding> findings;
    for (const Allocation* a : left)
        findings.push_back(finding_of_call(kinds::never_freed, a->place,
                                           format("never freed: %s, %llu bytes; call %s", a->name.c_str(),
                                                  (unsigned long long)a->bytes,
                                                  a->owner == Owner::pinned ? "cudaFreeHost" : "cudaFree")));
    return findings;
}

}  // namespace sim
