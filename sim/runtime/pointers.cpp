// A program's questions about memory: the attributes of a pointer, and how much is free.

#include "allocations.h"
#include "devices.h"

using namespace sim;

cudaError_t cudaHostGetDevicePointer(void** on_device, void* memory, unsigned flags)
{
    SIM_ENTER(false);
    const Allocation* a = allocation_at(uintptr_t(memory));
    if (!on_device || flags || !a || a->freed || a->owner == Owner::device)
        return result(cudaErrorInvalidValue);
    *on_device = memory;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* memory)
{
    SIM_ENTER(false);
    const Allocation* a = allocation_at(uintptr_t(memory));
    if (!flags || !a || (a->owner != Owner::pinned && a->owner != Owner::registered))
        return result(cudaErrorInvalidValue);
    *flags = a->flags | cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total)
{
    SIM_ENTER(false);
    if (free) *free = free_memory(current_device());
    if (total) *total = total_memory();
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer)
{
    SIM_ENTER(false);
    if (!attributes) return result(cudaErrorInvalidValue);
    void* const p = const_cast<void*>(pointer);
    const Allocation* a = allocation_at(uintptr_t(pointer));
    const Variable* variable = host_name(uintptr_t(pointer)) ? nullptr : variable_of(uintptr_t(pointer));
    const Owner owner = a ? a->freed ? Owner::none : a->owner : variable ? variable->owner() : Owner::none;
    switch (owner) {
        case Owner::none: *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, p}; break;
        case Owner::device:
            *attributes = {cudaMemoryTypeDevice, a ? a->device : current_device(), p, nullptr};
            break;
        case Owner::managed: *attributes = {cudaMemoryTypeManaged, current_device(), p, p}; break;
        case Owner::pinned:
        case Owner::registered: *attributes = {cudaMemoryTypeHost, current_device(), p, p}; break;
    }
    return cudaSuccess;
}
