// Pools of memory, cudaMemPool. A pool gives all memory back at once here, so its settings are kept for programs that
// ask for them, and have no other effect.

#include "../../common/base/error.h"
#include "allocations.h"
#include "devices.h"
#include "notes.h"

namespace sim {
namespace {

using harness::format;

struct MemoryPool {
    uint64_t release_threshold = 0;
    int reuse[3] = {1, 1, 1};  // from cudaMemPoolReuseFollowEventDependencies on
};

MemoryPool* pools()
{
    static MemoryPool pools[most_devices];  // one for each device
    return pools;
}

cudaMemPool_t pool_of(int device) { return reinterpret_cast<cudaMemPool_t>(&pools()[device]); }
bool known_pool(cudaMemPool_t pool) { return pool >= pool_of(0) && pool <= pool_of(device_count() - 1); }

int owner_of(cudaMemPool_t pool) { return int(reinterpret_cast<MemoryPool*>(pool) - pools()); }

// Null if the attribute is not one of reuse.
int* reuse_of(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
    const int i = attribute - cudaMemPoolReuseFollowEventDependencies;
    return i >= 0 && i < 3 ? &pools()[owner_of(pool)].reuse[i] : nullptr;
}

}  // namespace
}  // namespace sim

using namespace sim;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device)
{
    SIM_ENTER(false);
    if (!known_device(device)) return result(cudaErrorInvalidDevice);
    return give(pool, pool_of(device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
{
    SIM_ENTER(false);
    if (!known_pool(pool) || !value) return result(cudaErrorInvalidValue);
    if (int* reuse = reuse_of(pool, attribute)) {
        *reuse = *static_cast<const int*>(value);
        return cudaSuccess;
    }
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold:
            pools()[owner_of(pool)].release_threshold = *static_cast<const uint64_t*>(value);
            return cudaSuccess;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh:
            return result(*static_cast<const uint64_t*>(value) ? cudaErrorInvalidValue : cudaSuccess);  // 0 begins anew
        default: return result(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
{
    SIM_ENTER(false);
    if (!known_pool(pool) || !value) return result(cudaErrorInvalidValue);
    if (const int* reuse = reuse_of(pool, attribute)) {
        *static_cast<int*>(value) = *reuse;
        return cudaSuccess;
    }
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold:
            *static_cast<uint64_t*>(value) = pools()[owner_of(pool)].release_threshold;
            return cudaSuccess;
        case cudaMemPoolAttrReservedMemCurrent:
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemCurrent:
        case cudaMemPoolAttrUsedMemHigh:
            *static_cast<uint64_t*>(value) = allocated().in_use[owner_of(pool)];
            return cudaSuccess;
        default: return result(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t)
{
    return result(known_pool(pool) ? cudaSuccess : cudaErrorInvalidValue);
}

// A pool's own device can read and write its memory, and nothing else can be set here.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count)
{
    SIM_ENTER(false);
    if (!known_pool(pool) || (count && !list)) return result(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        const cudaMemAccessDesc& wanted = list[i];
        if (wanted.location.type != cudaMemLocationTypeDevice) return result(cudaErrorInvalidValue);
        if (!known_device(wanted.location.id)) return result(cudaErrorInvalidDevice);
        const int owner = owner_of(pool);
        if (wanted.location.id == owner && wanted.flags == cudaMemAccessFlagsProtReadWrite) continue;
        program_finding(
            kinds::not_simulated, SIM_PLACE,
            format("not simulated: cudaMemPoolSetAccess %s changes the access of device %d to the pool of device %d; "
                   "use cudaMalloc and cudaDeviceEnablePeerAccess",
                   at(SIM_PLACE).c_str(), wanted.location.id, owner));
        return result(cudaErrorNotSupported);
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location)
{
    SIM_ENTER(false);
    if (!known_pool(pool) || !flags || !location || location->type != cudaMemLocationTypeDevice)
        return result(cudaErrorInvalidValue);
    if (!known_device(location->id)) return result(cudaErrorInvalidDevice);
    *flags = owner_of(pool) == location->id ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}
