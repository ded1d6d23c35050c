#include "reach.h"

#include <link.h>

#include <algorithm>

#include "../../elf/symbols.h"

namespace sim {
namespace {

// The ranges of the program that are never written: its constants.
const std::vector<Range>& constants()
{
    static const std::vector<Range> ranges = [] {
        std::vector<Range> ranges;
        dl_iterate_phdr([](dl_phdr_info* info, size_t, void* out) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& p = info->dlpi_phdr[i];
                if ((p.p_type == PT_LOAD && !(p.p_flags & PF_W)) || p.p_type == PT_GNU_RELRO)
                    static_cast<std::vector<Range>*>(out)->push_back(
                        {uintptr_t(info->dlpi_addr + p.p_vaddr), uintptr_t(p.p_memsz)});
            }
            return 0;
        }, &ranges);
        return ranges;
    }();
    return ranges;
}

}  // namespace

void Reach::start(const Launching& launching)
{
    readable_.clear();
    for (const uint3* variable : {&threadIdx, &blockIdx})
        readable_.push_back({uintptr_t(variable), sizeof *variable});
    for (const Dimensions* variable : {&blockDim, &gridDim})
        readable_.push_back({uintptr_t(variable), sizeof *variable});
    // Each thread makes its own copy of the arguments.
    for (size_t i = 0; i < launching.passed_count; ++i)
        readable_.push_back({launching.passed[i].begin, launching.passed[i].bytes});
    readable_.insert(readable_.end(), constants().begin(), constants().end());
}

Array* Reach::array_at(uintptr_t address, uint64_t place)
{
    if (SharedArray* array = shared_.find(address, place)) return array;
    return memory().find(address);
}

Reached Reach::find(uintptr_t address, unsigned bytes, uint64_t place)
{
    if (on_stack(address)) return {Reached::stack};
    if (Array* array = array_at(address, place)) return {Reached::device, array};
    if (bytes == 1 && is_guard(address - thread_local_base(), place)) return {Reached::writable};
    const auto holds = [&](const Range& r) { return r.holds(address) && bytes <= r.bytes - (address - r.begin); };
    return {std::any_of(readable_.begin(), readable_.end(), holds) ? Reached::readable : Reached::nowhere};
}

}  // namespace sim
