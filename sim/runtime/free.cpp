// Frees: cudaFree and similar functions. A wrong free is a finding that says what the program should have freed.

#include "../../common/base/error.h"
#include "allocations.h"
#include "notes.h"
#include "timeline.h"

namespace sim {
namespace {

using harness::format;

cudaError_t release(const char* function, void* memory, bool pinned, const void* place)
{
    if (!memory) return cudaSuccess;
    const uintptr_t address = uintptr_t(memory);
    Allocation* const found = allocation_at(address);
    const std::string where = at(place);
    const auto refuse = [&](const std::string& what) {
        program_finding(kinds::bad_free, place, format("bad free: %s %s: ", function, where.c_str()) + what);
        return result(cudaErrorInvalidValue);
    };
    if (!found || found->owner == Owner::registered)
        return refuse(in_device_heap(address)    ? "malloc gave it in a kernel, which must free it"
                      : allocation_at(address - 1) ? format("%p is the end of %s; free its beginning", memory,
                                                            allocation_at(address - 1)->name.c_str())
                      : in_device_range(address) ? format("%p was never allocated", memory)
                                               : format("%p is memory of the host, not from %s", memory,
                                                        pinned ? "cudaMallocHost" : "cudaMalloc"));
    Allocation& a = *found;
    if (address != a.begin)
        return refuse(format("the pointer is to byte %llu of %s; free its beginning",
                             (unsigned long long)(address - a.begin), a.name.c_str()));
    if (a.freed) return refuse(a.name + " was freed before, " + a.freed_at);
    if (pinned != (a.owner == Owner::pinned))
        return refuse(a.name + ": use " + (pinned ? "cudaFree" : "cudaFreeHost"));
    mark_freed(a, where);
    return cudaSuccess;
}

}  // namespace
}  // namespace sim

using namespace sim;

cudaError_t cudaFree(void* memory)
{
    SIM_ENTER(true);
    timeline().host_waits_for_all();
    return release("cudaFree", memory, false, SIM_PLACE);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream)
{
    SIM_ENTER(false);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    if (const Allocation* a = allocation_at(uintptr_t(memory)); a && !a->freed)
        use_whole("cudaFreeAsync", SIM_PLACE, a->begin, a->bytes, stream);
    return release("cudaFreeAsync", memory, false, SIM_PLACE);
}

cudaError_t cudaFreeHost(void* memory)
{
    SIM_ENTER(true);
    timeline().host_waits_for_all();
    return release("cudaFreeHost", memory, true, SIM_PLACE);
}
