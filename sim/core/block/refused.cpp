#include "refused.h"

#include <algorithm>
#include <cstring>

#include "../../../common/base/error.h"
#include "../../elf/symbols.h"
#include "../memory/declared.h"
#include "../memory/matrices.h"

namespace sim {
namespace {

uint64_t distance_of(uintptr_t address, const Allocation* memory)
{
    if (!memory) return ~uint64_t(0);
    return address < memory->begin ? memory->begin - address : address - memory->begin - memory->bytes;
}

}  // namespace

Fault refused_access(const FindingKind& kind, uintptr_t address, Site site, const Array* array,
                       const std::string& text)
{
    Fault fault(kind, without_turn(site), 0);
    fault.offset = int64_t(address);
    if (array) {
        fault.memory = array->name;
        fault.offset = int64_t(address - array->begin);
        fault.memory_bytes = array->bytes;
    }
    fault.text = text;
    return fault;
}

Fault stray_access(uintptr_t address, Site site, const SharedMemory& shared)
{
    const Kind kind = kind_of(site);
    const FindingKind& fault = address % bytes_of(site) ? kinds::misaligned_access
                               : kind == load           ? kinds::out_of_bounds_load
                                                        : kinds::out_of_bounds_store;
    if (const SharedArray* array = shared.wrapped(address))
        return refused_access(fault, address, site, array,
                              "an address of shared memory has 32 bits on a GPU, so this index wraps and reaches the "
                              "array; compute it with signed numbers");
    if (address - thread_local_base() < uintptr_t(1) << 24)
        if (const SharedArray* array = shared.nearest(address)) return refused_access(fault, address, site, array, "");
    if (shared.near_dynamic(address)) {
        const Array asked{uintptr_t(shared.dynamic()), shared.dynamic_bytes(), 0,
                          harness::format("dynamic shared memory (the launch asks for %llu bytes of it)",
                                          (unsigned long long)shared.dynamic_bytes())};
        return refused_access(fault, address, site, &asked, "");
    }
    for (const Declared* d = records; d; d = d->next)
        if (d->kind <= Declared::shared_of_kernel && address - uintptr_t(d->address()) < d->bytes)
            return refused_access(kinds::host_pointer, address, site, nullptr,
                                  harness::format("shared memory of another kernel: %s is gone with its block; keep "
                                                  "values, and no pointers to it", d->name));
    const Allocation* target = memory().nearest(address);
    // Stores are not meant for a matrix that is only read, however near.
    if (target && target->read_only && kind != load) target = output_matrix();
    const uint64_t distance = distance_of(address, target);
    if (distance > uint64_t(1) << 36) return refused_access(kinds::host_pointer, address, site, nullptr, "");
    // An index of 32 bits that overflows is off by this.
    const uint64_t wrapped = uint64_t(bytes_of(site)) << 32;
    const bool overflow = target->holds(address + wrapped) || target->holds(address - wrapped);
    return refused_access(fault, address, site, target,
                          overflow                       ? "the index has overflowed its 32 bits; compute it as size_t"
                          : distance > uint64_t(1) << 30 ? "so far outside: was the index set?"
                                                         : "");
}

Fault misaligned_access(uintptr_t address, Kind kind, uint64_t place, const Array* array, const std::string& type,
                          unsigned alignment)
{
    const Array variable{address, 1, 0, "a local variable"};
    std::string name = type.substr(1, type.size() - 2);  // without the quotes
    for (const char* word : {"const ", "volatile ", "struct ", "class ", "union "})
        if (name.compare(0, std::strlen(word), word) == 0) name.erase(0, std::strlen(word));
    const Site site = site_of(place, kind, unsigned(__builtin_ctz(std::min(alignment, 16u))));
    return refused_access(kinds::misaligned_access, address, site, array ? array : &variable,
                          harness::format("%s must lie at a multiple of %u bytes", name.c_str(), alignment));
}

}  // namespace sim
