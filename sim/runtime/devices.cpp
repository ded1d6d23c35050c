// The devices. Each is the machine that is simulated.

#include "devices.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

#include "../../common/base/error.h"
#include "../core/devices.h"
#include "options.h"
#include "runtime.h"

namespace sim {
namespace {

constexpr uint64_t kib = 1024, gib = 1024 * 1024 * 1024;
constexpr int cuda_version = CUDART_VERSION;

bool asked = false;                   // the program has asked for the number of devices
thread_local int current = 0;
uint32_t enabled_peers[most_devices] = {};  // by device
unsigned device_flags = 0;
cudaFuncCache preferred_cache = cudaFuncCachePreferNone;

// Memory of one address space for all devices came with compute capability 2.0.
bool can_access(int device, int peer) { return device != peer && program_options().peers && machine().major >= 2; }

// CUDA refuses a limit above its range and raises one below it. Measured on an H200 (tests/sim/language/refusals.cu).
struct Limit {
    cudaLimit limit;
    size_t value, least, most;
};
Limit limits[] = {
    {cudaLimitStackSize, 1024, 0, 512 * kib},
    {cudaLimitPrintfFifoSize, 1024 * kib, 512 * kib, SIZE_MAX},
    {cudaLimitMallocHeapSize, 8192 * kib, 4096 * kib, SIZE_MAX},
    {cudaLimitDevRuntimePendingLaunchCount, 2048, 32, SIZE_MAX},
    {cudaLimitMaxL2FetchGranularity, 64, 0, 128},
    {cudaLimitPersistingL2CacheSize, 0, 0, SIZE_MAX},
};
Limit* find(cudaLimit limit)
{
    Limit* const found = std::find_if(limits, std::end(limits), [&](const Limit& l) { return l.limit == limit; });
    return found == std::end(limits) ? nullptr : found;
}

// The error for a limit that a device lacks. CUDA 13.0 numbers ten limits, and a device need not have each.
cudaError_t no_such(cudaLimit limit)
{
    return limit < 0 || limit > 9 ? cudaErrorInvalidValue : cudaErrorUnsupportedLimit;
}

}  // namespace

bool known_preference(cudaFuncCache preferred)
{
    return preferred >= cudaFuncCachePreferNone && preferred <= cudaFuncCachePreferEqual;
}
bool known_banks(cudaSharedMemConfig banks)
{
    return banks >= cudaSharedMemBankSizeDefault && banks <= cudaSharedMemBankSizeEightByte;
}

int device_count()
{
    asked = true;
    return program_options().gpus;
}

bool known_device(int device) { return device >= 0 && device < device_count(); }
int current_device() { return current; }
void set_current_device(int device) { current = device; }
uint32_t peers_of(int device) { return enabled_peers[device]; }
void disable_peers(int device) { enabled_peers[device] = 0; }

}  // namespace sim

using namespace sim;

extern "C" void sim_use_devices(int count)
{
    const RuntimeLock lock;
    const char* const why = count < 1 || count > most_devices ? "expected 1 to 16 devices"
                            : asked                           ? "call it before the first use of a device"
                                                              : nullptr;
    if (why) {
        fflush(stdout);
        fprintf(stderr, "%s: sim_use_devices(%d): %s\n", program_invocation_short_name, count, why);
        _exit(harness::status_bad_input);
    }
    program_options().gpus = count;
}

cudaError_t cudaGetDeviceCount(int* count)
{
    SIM_ENTER(false);
    return give(count, device_count());
}

cudaError_t cudaGetDevice(int* device)
{
    SIM_ENTER(false);
    return give(device, current);
}

cudaError_t cudaSetDevice(int device)
{
    SIM_ENTER(false);
    if (!known_device(device)) return result(cudaErrorInvalidDevice);
    current = device;
    return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned)
{
    SIM_ENTER(false);
    return result(known_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaSetValidDevices(int* devices, int count)
{
    return result(devices && count > 0 && known_device(devices[0]) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    SIM_ENTER(false);
    const unsigned schedule = flags & cudaDeviceScheduleMask;
    if (flags > 0xff || schedule & (schedule - 1)) return result(cudaErrorInvalidValue);
    device_flags = flags & (cudaDeviceScheduleMask | cudaDeviceLmemResizeToMax | 0x80u);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags)
{
    SIM_ENTER(false);
    return give(flags, device_flags | cudaDeviceMapHost);
}

// All devices are alike, so the first is chosen.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted)
{
    SIM_ENTER(false);
    if (!device || !wanted) return result(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    SIM_ENTER(false);
    if (!properties) return result(cudaErrorInvalidValue);
    if (!known_device(device)) return result(cudaErrorInvalidDevice);
    const harness::Machine& m = machine();
    cudaDeviceProp p;
    std::memset(&p, 0, sizeof p);
    snprintf(p.name, sizeof p.name, "NVIDIA %s (simulated)", m.label.c_str());
    p.totalGlobalMem = m.dram_bytes;
    p.sharedMemPerBlock = m.shared_per_block;
    p.sharedMemPerBlockOptin = m.shared_per_block_optin;
    p.reservedSharedMemPerBlock = m.reserved_shared;
    p.sharedMemPerMultiprocessor = m.shared_per_sm;
    p.regsPerBlock = m.registers_per_block;
    p.regsPerMultiprocessor = m.registers_per_sm;
    p.warpSize = 32;
    p.memPitch = 2147483647;
    p.maxThreadsPerBlock = int(m.threads_per_block);
    for (int i = 0; i < 3; ++i) {
        p.maxThreadsDim[i] = int(m.block[i]);
        p.maxGridSize[i] = int(m.grid[i]);
    }
    p.totalConstMem = 64 * kib;
    p.major = m.major;
    p.minor = m.minor;
    p.textureAlignment = 512;
    p.texturePitchAlignment = 32;
    p.surfaceAlignment = 512;
    p.multiProcessorCount = m.sms;
    p.canMapHostMemory = 1;
    p.concurrentKernels = m.major >= 2;
    p.ECCEnabled = m.l2_bytes > 0 && p.totalGlobalMem > 10 * gib;
    p.asyncEngineCount = m.copy_engines;
    p.deviceOverlap = 1;
    p.unifiedAddressing = 1;
    p.memoryBusWidth = m.bus_bits;
    p.memoryClockRate = m.dram_mhz * 1000;
    p.clockRate = m.sm_mhz * 1000;
    p.l2CacheSize = int(m.l2_bytes);
    p.maxThreadsPerMultiProcessor = m.threads_per_sm;
    p.maxBlocksPerMultiProcessor = m.blocks_per_sm;
    p.streamPrioritiesSupported = 1;
    p.globalL1CacheSupported = p.localL1CacheSupported = m.major >= 2;
    p.managedMemory = 1;
    p.concurrentManagedAccess = m.major >= 6;
    p.computePreemptionSupported = m.major >= 6;
    p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
    p.singleToDoublePrecisionPerfRatio = m.double_ratio;
    p.memoryPoolsSupported = m.major >= 6;
    p.pciDeviceID = device;
    p.computeMode = cudaComputeModeDefault;
    *properties = p;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p;
    if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
    if (!value) return result(cudaErrorInvalidValue);
    switch (attribute) {
#define SIM_ATTRIBUTE(name, number, property) \
    case cudaDevAttr##name: *value = int(property); break;
#include "../cuda/sim/device_attributes.inc"
        default:
            if (attribute < cudaDevAttrMaxThreadsPerBlock ||
                attribute > cudaDevAttrOnlyPartialHostNativeAtomicSupported)
                return result(cudaErrorInvalidValue);
            *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device)
{
    SIM_ENTER(false);
    if (!known_device(device)) return result(cudaErrorInvalidDevice);
    if (!id || length < 13) return result(cudaErrorInvalidValue);
    snprintf(id, size_t(length), "0000:00:%02x.0", unsigned(device));
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id)
{
    SIM_ENTER(false);
    if (!device || !id) return result(cudaErrorInvalidValue);
    unsigned domain = 0, bus = 0, number = 0;
    char behind = 0;
    // An id without a domain ends with the function: 00:01.0.
    if (std::sscanf(id, "%x:%x:%x%c", &domain, &bus, &number, &behind) < 3 &&
        (domain = 0, std::sscanf(id, "%x:%x%c", &bus, &number, &behind) < 3 || behind != '.'))
        return result(cudaErrorInvalidValue);
    if (domain || bus || number >= unsigned(device_count())) return result(cudaErrorInvalidDevice);
    *device = int(number);
    return cudaSuccess;
}

// Preferences between caches and shared memory, which change no count.

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preferred)
{
    SIM_ENTER(false);
    if (!known_preference(preferred)) return result(cudaErrorInvalidValue);
    preferred_cache = preferred;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preferred)
{
    SIM_ENTER(false);
    return give(preferred, preferred_cache);
}

cudaError_t cudaThreadSetCacheConfig(cudaFuncCache preferred) { return cudaDeviceSetCacheConfig(preferred); }

// Banks are 4 bytes wide, as on every machine since compute capability 5.0: another request is ignored, as there.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig banks)
{
    return result(known_banks(banks) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* banks)
{
    return give(banks, cudaSharedMemBankSizeFourByte);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value)
{
    SIM_ENTER(false);
    Limit* const known = find(limit);
    if (!known) return result(no_such(limit));
    const size_t rounded = limit == cudaLimitStackSize ? (value + 15) / 16 * 16 : value;
    if (rounded < value || rounded > known->most) return result(cudaErrorInvalidValue);
    known->value = std::max(rounded, known->least);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit)
{
    SIM_ENTER(false);
    const Limit* const known = find(limit);
    if (!value) return result(cudaErrorInvalidValue);
    if (!known) return result(no_such(limit));
    *value = known->value;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer)
{
    SIM_ENTER(false);
    if (!can) return result(cudaErrorInvalidValue);
    if (!known_device(device) || !known_device(peer)) return result(cudaErrorInvalidDevice);
    *can = can_access(device, peer);
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    SIM_ENTER(false);
    if (!known_device(peer)) return result(cudaErrorInvalidDevice);
    if (flags) return result(cudaErrorInvalidValue);
    if (!can_access(current, peer)) return result(cudaErrorPeerAccessUnsupported);
    if (enabled_peers[current] >> peer & 1) return result(cudaErrorPeerAccessAlreadyEnabled);
    enabled_peers[current] |= uint32_t(1) << peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    SIM_ENTER(false);
    if (!known_device(peer)) return result(cudaErrorInvalidDevice);
    if (!(enabled_peers[current] >> peer & 1)) return result(cudaErrorPeerAccessNotEnabled);
    enabled_peers[current] &= ~(uint32_t(1) << peer);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer)
{
    SIM_ENTER(false);
    if (!known_device(device) || !known_device(peer) || device == peer) return result(cudaErrorInvalidDevice);
    if (!value) return result(cudaErrorInvalidValue);
    switch (attribute) {
        case cudaDevP2PAttrAccessSupported:
        case cudaDevP2PAttrNativeAtomicSupported: *value = can_access(device, peer); break;
        case cudaDevP2PAttrPerformanceRank:
        case cudaDevP2PAttrCudaArrayAccessSupported: *value = 0; break;
        default: return result(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) { return give(version, cuda_version); }

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
