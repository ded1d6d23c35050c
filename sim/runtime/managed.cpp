// Advice on where managed memory should be. There is one memory here, so the advice is checked and has no effect.

#include "devices.h"
#include "runtime.h"

using namespace sim;

namespace {

bool is_managed(const void* memory, size_t bytes)
{
    const Allocation* a = allocation_at(uintptr_t(memory));
    return a && a->owner == Owner::managed && !a->freed && bytes <= a->begin + a->bytes - uintptr_t(memory);
}

// Before CUDA 13, a place was the number of a device, and that of the host negative.
cudaMemLocation location(int device)
{
    return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}

bool exists(cudaMemLocation place)
{
    switch (place.type) {
        case cudaMemLocationTypeDevice: return known_device(place.id);
        case cudaMemLocationTypeHost:
        case cudaMemLocationTypeHostNumaCurrent: return true;
        case cudaMemLocationTypeHostNuma: return place.id == 0;
        default: return false;
    }
}

cudaError_t prefetch(const void* memory, size_t bytes, cudaMemLocation place, unsigned flags, cudaStream_t stream)
{
    SIM_ENTER(false);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    if (flags || bytes == 0 || !is_managed(memory, bytes)) return result(cudaErrorInvalidValue);
    return result(exists(place)                             ? cudaSuccess
                  : place.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice
                                                            : cudaErrorInvalidValue);
}

// Checks advice on where bytes should be. Only advice that names a place needs one that exists.
cudaError_t advise(const void* memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation place)
{
    SIM_ENTER(false);
    const bool known = place.type > cudaMemLocationTypeInvalid && place.type <= cudaMemLocationTypeHostNumaCurrent;
    if (!known || bytes == 0 || !is_managed(memory, bytes)) return result(cudaErrorInvalidValue);
    switch (advice) {
        case cudaMemAdviseSetReadMostly:
        case cudaMemAdviseUnsetReadMostly:
        case cudaMemAdviseUnsetPreferredLocation: return cudaSuccess;
        case cudaMemAdviseSetPreferredLocation: return result(exists(place) ? cudaSuccess : cudaErrorInvalidValue);
        case cudaMemAdviseSetAccessedBy:
        case cudaMemAdviseUnsetAccessedBy:
            return result(exists(place) && place.type <= cudaMemLocationTypeHost ? cudaSuccess : cudaErrorInvalidValue);
        default: return result(cudaErrorInvalidValue);
    }
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t stream)
{
    return prefetch(memory, bytes, location(device), 0, stream);
}
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation place, unsigned flags,
                                 cudaStream_t stream)
{
    return prefetch(memory, bytes, place, flags, stream);
}
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, int device)
{
    return advise(memory, bytes, advice, location(device));
}
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation place)
{
    return advise(memory, bytes, advice, place);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t bytes, unsigned flags)
{
    SIM_ENTER(false);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    const bool good = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    return result(good && is_managed(memory, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}
