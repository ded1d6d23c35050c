// Allocation: cudaMalloc and similar functions.
//
// Memory is filled with ones, because nobody may rely on what it holds at first. The name of the variable that gets the
// pointer comes from the text of the line, for findings.

#include <unistd.h>

#include <cstring>

#include "../../common/base/error.h"
#include "../../common/base/limits.h"
#include "allocations.h"
#include "devices.h"
#include "notes.h"
#include "options.h"

namespace sim {
namespace {

constexpr uintptr_t alignment = 512;  // of an allocation
constexpr uint64_t large = 1 << 20;   // an allocation of so many bytes begins on a page
constexpr uint64_t most_filled = 256 << 20;

// Notes the error, because many programs do not look at it, and go on with a null pointer.
cudaError_t no_memory(const std::string& name, uint64_t bytes, uint64_t free, const std::string& whose)
{
    program_note(name + ": cudaErrorMemoryAllocation: it asks for " + harness::size_text(bytes) + ", and " + whose +
                 " has " + harness::size_text(free) + " left");
    return result(cudaErrorMemoryAllocation);
}

// Fills new memory with ones.
void fill(uintptr_t begin, uint64_t bytes)
{
    const OpenMemory open;
    if (bytes <= most_filled) std::memset(reinterpret_cast<void*>(begin), 0xff, bytes);
}

// `device`: whose memory it is; -1: the host's, which devices may touch.
cudaError_t allocate_as(Owner owner, const char* function, int device, void** memory, size_t bytes, unsigned flags,
                        const void* place)
{
    if (!memory) return result(cudaErrorInvalidValue);
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    const bool of_host = device < 0;
    AddressRange& range = of_host ? allocated().shared : allocated().devices[size_t(device)];
    // Memory of the host takes whole pages, because its pages are closed when it is freed.
    const uintptr_t host_page = sysconf(_SC_PAGESIZE);
    const uint64_t taken = of_host ? rounded(bytes, host_page) : bytes,
                   of_device = of_host ? ~uint64_t(0) : free_device_memory(device),
                   free = of_host ? std::min(harness::available_memory(), range.room()) : free_host_memory(device);
    const uintptr_t begin = bytes > std::min(free, of_device)
                                ? 0
                                : range.take(taken, bytes >= large ? gpu_page : of_host ? host_page : alignment);
    if (!begin || (of_host && mprotect(reinterpret_cast<void*>(begin), taken, PROT_READ | PROT_WRITE) != 0)) {
        const bool full = bytes > of_device;
        return no_memory(allocation_name(function, device, place), bytes, full ? of_device : free,
                         full ? "the " + machine().label : "the host");
    }
    if (!of_host) fill(begin, bytes);
    add_allocation(owner, device, function, begin, bytes, range.gpu_address(begin), flags, place);
    *memory = reinterpret_cast<void*>(begin);
    return cudaSuccess;
}

// Rows of so many bytes, each with a pitch; CUDA gives none to an empty array.
cudaError_t allocate_rows(const char* function, void** memory, size_t* pitch, size_t width, size_t height,
                          const void* place)
{
    *pitch = 0;
    size_t bytes = 0;
    const size_t rounded_up = width ? (width - 1) / alignment + 1 : 0;
    if (width && height &&
        (__builtin_mul_overflow(rounded_up, size_t(alignment), pitch) ||
         __builtin_mul_overflow(*pitch, height, &bytes)))
        return result(cudaErrorInvalidValue);
    return allocate_as(Owner::device, function, current_device(), memory, bytes, 0, place);
}

}  // namespace

void note_elements(const void* pointer, size_t bytes, size_t alignment, const unsigned char* members)
{
    if (Allocation* allocation = memory().find(uintptr_t(pointer))) allocation->elements = {bytes, alignment, members};
}

cudaError_t allocate(void** memory, size_t bytes, const void* place)
{
    SIM_ENTER(false);
    return allocate_as(Owner::device, "cudaMalloc", current_device(), memory, bytes, 0, place);
}

cudaError_t allocate_async(void** memory, size_t bytes, cudaStream_t stream, const void* place)
{
    SIM_ENTER(false);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    const cudaError_t error =
        allocate_as(Owner::device, "cudaMallocAsync", device_of(stream), memory, bytes, 0, place);
    if (!error && bytes) use_whole("cudaMallocAsync", place, uintptr_t(*memory), bytes, stream);
    return error;
}

cudaError_t allocate_pitched(void** memory, size_t* pitch, size_t width, size_t height, const void* place)
{
    SIM_ENTER(false);
    if (!pitch) return result(cudaErrorInvalidValue);
    return allocate_rows("cudaMallocPitch", memory, pitch, width, height, place);
}

cudaError_t allocate_managed(void** memory, size_t bytes, unsigned flags, const void* place)
{
    SIM_ENTER(false);
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return result(cudaErrorInvalidValue);
    return allocate_as(Owner::managed, "cudaMallocManaged", -1, memory, bytes, 0, place);
}

cudaError_t allocate_pinned(const char* function, void** memory, size_t bytes, unsigned flags, const void* place)
{
    SIM_ENTER(false);
    if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return result(cudaErrorInvalidValue);
    return allocate_as(Owner::pinned, function, -1, memory, bytes, flags, place);
}

}  // namespace sim

using namespace sim;

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent)
{
    SIM_ENTER(false);
    if (!memory) return result(cudaErrorInvalidValue);
    *memory = {nullptr, 0, extent.width, extent.height};
    size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return result(cudaErrorInvalidValue);
    return allocate_rows("cudaMalloc3D", &memory->ptr, &memory->pitch, extent.width, rows, SIM_PLACE);
}
