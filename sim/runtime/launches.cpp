// Launches of kernels: what CUDA refuses, and what it tells about a kernel.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "../../common/base/error.h"
#include "../core/memory/declared_list.h"
#include "../core/memory/shared_memory.h"
#include "../elf/places.h"
#include "../elf/symbols.h"
#include "devices.h"
#include "kernels.h"
#include "notes.h"
#include "options.h"
#include "program.h"
#include "runtime.h"

namespace sim {
namespace {

// void k<float>(float*, int) is k<float>.
std::string without_types(std::string name)
{
    for (const std::string part : {"(anonymous namespace)::", "<unnamed>::"})
        for (size_t i = 0; (i = name.find(part, i)) != std::string::npos;) name.erase(i, part.size());
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (depth == 0 && name[i] == '(') return name.substr(begin, i - begin);
        if (depth == 0 && name[i] == ' ') begin = i + 1;
    }
    return name.substr(begin);
}

using harness::format;

// The attributes that the program set with cudaFuncSetAttribute, by kernel.
struct KernelAttributes {
    std::map<const void*, uint64_t> dynamic;  // bytes of shared memory that a launch may ask for
    std::map<const void*, int> carveout;      // the preferred share of shared memory, which changes nothing here
};

KernelAttributes& attributes_set()
{
    static KernelAttributes& attributes_set = *new KernelAttributes;
    return attributes_set;
}

uint64_t static_shared(const void* kernel)
{
    if (!kernel) return 0;
    SharedMemory memory;
    memory.start(kernel, 0);
    return memory.static_bytes();
}

// Dynamic shared memory begins behind the static one, at a multiple of 16 bytes.
uint64_t before_dynamic(uint64_t static_bytes) { return (static_bytes + 15) / 16 * 16; }

uint64_t dynamic_limit(const void* kernel, uint64_t static_bytes)
{
    const auto set = attributes_set().dynamic.find(kernel);
    if (set != attributes_set().dynamic.end()) return set->second;
    const uint64_t usual = machine().shared_per_block;
    uint64_t limit = usual - std::min(usual, before_dynamic(static_bytes));
    // The kernel is not known if it is a template whose arguments are deduced.
    if (!kernel)
        for (const auto& each : attributes_set().dynamic) limit = std::max(limit, each.second);
    return limit;
}

// Blocks that run on one multiprocessor at a time; registers are not modelled.
int blocks_per_multiprocessor(const void* kernel, int threads, uint64_t shared_bytes)
{
    const harness::Machine& m = machine();
    const uint64_t fixed = static_shared(kernel), shared = before_dynamic(fixed) + shared_bytes;
    if (threads < 1 || unsigned(threads) > m.threads_per_block || shared > m.shared_per_block_optin) return 0;
    // A limit that the program lowered counts for launches alone.
    if (shared > m.shared_per_block && shared_bytes > dynamic_limit(kernel, fixed)) return 0;
    return int(m.occupancy(threads, shared).blocks);
}

void say_registers()
{
    program_note("registers are not modelled: occupancy ignores them, and cudaFuncGetAttributes gives 0");
}

}  // namespace

const char* kernel_name(const void* kernel)
{
    static std::map<const void*, std::string>& names = *new std::map<const void*, std::string>;
    std::string& name = names[kernel];
    if (name.empty()) {
        const Symbol* symbol = kernel ? function_at(uint64_t(kernel)) : nullptr;
        name = symbol ? without_types(demangle(source_function(*symbol))) : "a kernel";
    }
    return name.c_str();
}

const char* name_of(const Launching& launching)
{
    const char* name = kernel_name(launching.kernel);
    return std::strcmp(name, "a kernel") ? name : launching.name;
}

bool may_launch(const Launching& launching)
{
    const RuntimeLock lock;
    if (context_lost()) return false;
    const harness::Machine& m = machine();
    const Configuration& c = launching.configuration;
    const auto refuse = [&](cudaError_t error, const std::string& why) {
        launch_refused(launching, error, why);
        return false;
    };
    if (in_child()) {
        const std::string why = "a launch in a child of fork(), where CUDA cannot be used once the parent has used it; "
                                "fork before the first call of CUDA, or start another program";
        const Place place = place_of(uint64_t(launching.place));
        fprintf(stderr, "%s: %s:%d: %s\n", program_invocation_short_name, place.file.c_str(), place.line, why.c_str());
        return refuse(cudaErrorInitializationError, why);
    }
    // The errors are those of CUDA 13.0. Up to 12.9, the first three were cudaErrorInvalidConfiguration (measured on an
    // H200 with one driver for both).
    const unsigned grid[] = {c.grid.x, c.grid.y, c.grid.z}, block[] = {c.block.x, c.block.y, c.block.z};
    for (int i = 0; i < 3; ++i) {
        if (grid[i] < 1 || grid[i] > m.grid[i])
            return refuse(cudaErrorInvalidValue,
                          format("a grid of %u blocks in %c, where 1 to %u are allowed", grid[i], "xyz"[i], m.grid[i]));
        if (block[i] < 1 || block[i] > m.block[i])
            return refuse(cudaErrorInvalidValue, format("a block of %u threads in %c, where 1 to %u are allowed",
                                                        block[i], "xyz"[i], m.block[i]));
    }
    const uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
    if (threads > m.threads_per_block)
        return refuse(cudaErrorInvalidValue, format("a block of %llu threads, where 1 to %u are allowed",
                                                    (unsigned long long)threads, m.threads_per_block));
    if (const unsigned bound = launch_bound(launching.kernel); bound && threads > bound)
        return refuse(cudaErrorInvalidValue,
                      format("a block of %llu threads, where the kernel's __launch_bounds__ allows 1 to %u",
                             (unsigned long long)threads, bound));
    const uint64_t fixed = static_shared(launching.kernel), dynamic = c.shared_bytes;
    // A kernel with too much static shared memory, which nvcc refuses, ends at its array.
    if (dynamic && (dynamic > dynamic_limit(launching.kernel, fixed) ||
                    fixed + dynamic > std::max(m.shared_per_block, m.shared_per_block_optin)))
        return refuse(cudaErrorInvalidValue,
                      format("%llu bytes of dynamic shared memory, where %llu are allowed%s",
                             (unsigned long long)dynamic, (unsigned long long)dynamic_limit(launching.kernel, fixed),
                             fixed + dynamic <= m.shared_per_block_optin
                                 ? "; cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize allows more"
                                 : ""));
    if (!known_stream(static_cast<cudaStream_t>(c.stream)))
        return refuse(cudaErrorInvalidResourceHandle, "the stream does not exist");
    if (const int device = device_of(static_cast<cudaStream_t>(c.stream)); device != current_device())
        return refuse(
            cudaErrorInvalidResourceHandle,
            format("the stream belongs to device %d and device %d is current; call cudaSetDevice(%d) before the launch",
                   device, current_device(), device));
    return true;
}

bool can_launch(const cudaLaunchConfig_t& configuration, const void* kernel, const void* place)
{
    for (unsigned i = 0; i < configuration.numAttrs; ++i) {
        const cudaLaunchAttribute& a = configuration.attrs[i];
        const char* what = nullptr;
        if (a.id == cudaLaunchAttributeCooperative && a.val.cooperative) what = "a cooperative launch";
        if (a.id == cudaLaunchAttributeClusterDimension &&
            uint64_t(a.val.clusterDim.x) * a.val.clusterDim.y * a.val.clusterDim.z > 1)
            what = "a cluster of blocks";
        if (!what) continue;
        program_finding(
            kinds::not_simulated, place,
            format("not simulated: the launch of %s %s asks for %s", kernel_name(kernel), at(place).c_str(), what));
        count_as_written();
        result(cudaErrorNotSupported);
        return false;
    }
    return true;
}

cudaError_t refuse_cooperative(const void* kernel, const void* place)
{
    SIM_ENTER(false);
    program_finding(kinds::not_simulated, place,
                    format("not simulated: cudaLaunchCooperativeKernel %s (%s): blocks run one after the other here, "
                           "and cannot wait for each other",
                           at(place).c_str(), kernel_name(kernel)));
    count_as_written();
    return result(cudaErrorNotSupported);
}

}  // namespace sim

using namespace sim;

cudaError_t cudaFuncSetAttribute(KernelAddress kernel, cudaFuncAttribute attribute, int value)
{
    SIM_ENTER(false);
    if (!kernel) return result(cudaErrorInvalidDeviceFunction);
    switch (attribute) {
        case cudaFuncAttributeMaxDynamicSharedMemorySize:
            if (value < 0 ||
                uint64_t(value) + before_dynamic(static_shared(kernel)) > machine().shared_per_block_optin)
                return result(cudaErrorInvalidValue);
            attributes_set().dynamic[kernel] = uint64_t(value);
            return cudaSuccess;
        case cudaFuncAttributePreferredSharedMemoryCarveout:
            if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared)
                return result(cudaErrorInvalidValue);
            attributes_set().carveout[kernel] = value;
            return cudaSuccess;
        case cudaFuncAttributeNonPortableClusterSizeAllowed:
        case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess;  // there are no clusters here
        default: return result(cudaErrorInvalidValue);
    }
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, KernelAddress kernel)
{
    SIM_ENTER(false);
    if (!attributes) return result(cudaErrorInvalidValue);
    if (!kernel) return result(cudaErrorInvalidDeviceFunction);
    say_registers();
    const harness::Machine& m = machine();
    *attributes = {};
    attributes->sharedSizeBytes = static_shared(kernel);
    const unsigned bound = launch_bound(kernel);
    attributes->maxThreadsPerBlock = int(bound ? bound : m.threads_per_block);
    attributes->ptxVersion = attributes->binaryVersion = 10 * m.major + m.minor;
    attributes->maxDynamicSharedSizeBytes = int(dynamic_limit(kernel, attributes->sharedSizeBytes));
    const auto carveout = attributes_set().carveout.find(kernel);
    attributes->preferredShmemCarveout =
        carveout == attributes_set().carveout.end() ? int(cudaSharedmemCarveoutDefault) : carveout->second;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(KernelAddress kernel, cudaFuncCache preferred)
{
    return result(!kernel                       ? cudaErrorInvalidDeviceFunction
                  : known_preference(preferred) ? cudaSuccess
                                                : cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetSharedMemConfig(KernelAddress kernel, cudaSharedMemConfig banks)
{
    return result(!kernel ? cudaErrorInvalidDeviceFunction : known_banks(banks) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, KernelAddress kernel, int threads,
                                                          size_t shared_bytes)
{
    SIM_ENTER(false);
    if (!blocks || threads < 1) return result(cudaErrorInvalidValue);
    if (!kernel) return result(cudaErrorInvalidDeviceFunction);
    say_registers();
    *blocks = blocks_per_multiprocessor(kernel, threads, shared_bytes);
    return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, KernelAddress kernel, int blocks, int threads)
{
    SIM_ENTER(false);
    if (!bytes || blocks < 1 || threads < 1 || blocks > blocks_per_multiprocessor(kernel, threads, 0))
        return result(cudaErrorInvalidValue);
    // Like CUDA 13.0, it leaves out what is reserved in each block: with so many bytes, a block fewer may run.
    const uint64_t unit = machine().shared_unit, of_each = machine().shared_per_sm / uint64_t(blocks) / unit * unit,
                   fixed = static_shared(kernel);
    *bytes = std::min(of_each - std::min(of_each, before_dynamic(fixed)), dynamic_limit(kernel, fixed));
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void**, size_t, cudaStream_t)
{
    SIM_ENTER(false);
    program_finding(kinds::not_simulated, SIM_PLACE,
                    format("not simulated: cudaLaunchKernel %s gets %s as a plain pointer, which does not show its "
                           "parameters; remove the cast",
                           at(SIM_PLACE).c_str(), kernel_name(kernel)));
    count_as_written();
    return result(cudaErrorNotSupported);
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3, dim3, void**, size_t, cudaStream_t)
{
    return refuse_cooperative(kernel, SIM_PLACE);
}
