// Memory of the program's own that devices may touch: cudaHostRegister.

#include "allocations.h"
#include "timeline.h"

using namespace sim;

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags)
{
    SIM_ENTER(false);
    const uintptr_t address = uintptr_t(memory);
    const unsigned kept = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (!memory || bytes == 0 || flags & ~(kept | cudaHostRegisterReadOnly)) return result(cudaErrorInvalidValue);
    if (in_device_range(address) || allocated().shared.holds(address)) return result(cudaErrorInvalidValue);
    for (const auto& a : sim::memory().all())
        if (!a->freed && address < a->begin + a->bytes && a->begin < address + bytes)
            return result(cudaErrorHostMemoryAlreadyRegistered);
    add_allocation(Owner::registered, -1, "cudaHostRegister", address, bytes, managed_address * 2 + address,
                   flags & kept, SIM_PLACE);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* memory)
{
    SIM_ENTER(true);
    timeline().host_waits_for_all();
    const Allocation* a = allocation_at(uintptr_t(memory));
    if (memory && !a) return result(cudaErrorHostMemoryNotRegistered);
    if (!memory || a->owner != Owner::registered || a->begin != uintptr_t(memory)) return result(cudaErrorInvalidValue);
    end_sharing(*a);
    sim::memory().remove(uintptr_t(memory));
    return cudaSuccess;
}
