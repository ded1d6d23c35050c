// The functions of the CUDA runtime, as far as the simulator has them. ../runtime/ defines them.
//
// Everything runs at once and in order: when a function returns, its work is done, whatever its stream.
// A function that is missing here, or that says "not simulated", needs a GPU.

#pragma once
// Programs ask by these names which headers they have included.
#define __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_H__

#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/memory/padding.h"
#include "driver_types.h"

#define CUDART_VERSION 13000

// Functions that the templates here call. `place`: where the program calls, by the address that the call returns to.
namespace sim {

cudaError_t allocate(void** memory, size_t bytes, const void* place);
cudaError_t allocate_pitched(void** memory, size_t* pitch, size_t width, size_t height, const void* place);
cudaError_t allocate_managed(void** memory, size_t bytes, unsigned flags, const void* place);
cudaError_t allocate_pinned(const char* function, void** memory, size_t bytes, unsigned flags, const void* place);
cudaError_t allocate_async(void** memory, size_t bytes, cudaStream_t stream, const void* place);

// Notes the type of the elements of new memory. An undefined type has no size to note.
void note_elements(const void* memory, size_t bytes, size_t alignment, const unsigned char* members);
template <typename T, size_t bytes = sizeof(T)>
cudaError_t holding(T** memory, cudaError_t allocated)
{
    if (allocated == cudaSuccess) note_elements((const void*)*memory, bytes, alignof(T), members<T>());
    return allocated;
}
inline cudaError_t holding(const void*, cudaError_t allocated) { return allocated; }

// A copy of bytes to or from a variable of the device, whose name the program gives.
struct SymbolCopy {
    bool to_symbol;
    const void* symbol;
    size_t symbol_bytes;
    const void* other;
    size_t bytes, offset;
    cudaMemcpyKind kind;
};
cudaError_t copy_symbol(const SymbolCopy& copy, bool blocks, cudaStream_t stream, const void* place);
cudaError_t symbol_address(void** address, const void* symbol);

// In front of a call whose result the program drops: the rewriter puts it there.
struct Discarded {
    const char* function;
};
void operator,(Discarded call, cudaError_t error);

// The address of a kernel, whatever its type.
struct KernelAddress {
    const void* address;
    KernelAddress(const void* kernel) : address(kernel) {}
    template <typename T>
    KernelAddress(T* kernel) : address((const void*)kernel)
    {
    }
    operator const void*() const { return address; }
};
const char* kernel_name(const void* kernel);
// The error of the last launch of this host thread.
cudaError_t launch_error();
// False, with a finding, if the configuration asks for something that is not simulated.
bool can_launch(const cudaLaunchConfig_t& configuration, const void* kernel, const void* place);
cudaError_t refuse_cooperative(const void* kernel, const void* place);

template <typename Parameter>
Parameter argument(void* pointer) { return *static_cast<std::remove_reference_t<Parameter>*>(pointer); }

template <typename... Parameters, size_t... i>
cudaError_t launch_with_pointers(const Configuration& configuration, void (*kernel)(Parameters...), void** arguments,
                                 const void* place, std::index_sequence<i...>)
{
    launch_with(Launching{(const void*)kernel, kernel_name((const void*)kernel), configuration, 0, place}, kernel,
                argument<Parameters>(arguments[i])...);
    return launch_error();
}

}  // namespace sim

// A function that cannot be had here: the compiler says so, with the line of the call.
#define SIM_NOT_SIMULATED(function, what) \
    template <typename... Arguments> \
    inline cudaError_t function(Arguments...) \
    { \
        static_assert(sizeof...(Arguments) > 99, #function ": the simulator has no " what); \
        return cudaErrorNotSupported; \
    }

// Errors.

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// Devices: one, or as many as the program or SIM_OPTIONS asks for.

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
inline cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device)
{
    return cudaGetDeviceProperties(properties, device);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaThreadExit();
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preferred);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preferred);
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache preferred);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig banks);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* banks);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// Memory.

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent);
cudaError_t cudaFree(void* memory);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
// Each device has one pool, and its settings change nothing.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* memory);
cudaError_t cudaHostGetDevicePointer(void** on_device, void* memory, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned* flags, void* memory);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation place, unsigned flags,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation place);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle);

// A function of the runtime that allocates. From a pointer to T*, it also notes the type of the elements.
#define SIM_ALLOCATES(name, call, ...) \
    template <typename T> \
    SIM_FUNCTION cudaError_t name(T** memory, __VA_ARGS__) { return sim::holding(memory, sim::call); } \
    SIM_FUNCTION inline cudaError_t name(void** memory, __VA_ARGS__) { return sim::call; }
#define SIM_MEMORY (void**)(void*)memory
SIM_ALLOCATES(cudaMalloc, allocate(SIM_MEMORY, bytes, SIM_PLACE), size_t bytes)
SIM_ALLOCATES(cudaMallocPitch, allocate_pitched(SIM_MEMORY, pitch, width, height, SIM_PLACE), size_t* pitch,
              size_t width, size_t height)
SIM_ALLOCATES(cudaMallocManaged, allocate_managed(SIM_MEMORY, bytes, flags, SIM_PLACE), size_t bytes,
              unsigned flags = cudaMemAttachGlobal)
SIM_ALLOCATES(cudaMallocHost, allocate_pinned("cudaMallocHost", SIM_MEMORY, bytes, flags, SIM_PLACE), size_t bytes,
              unsigned flags = 0)
SIM_ALLOCATES(cudaHostAlloc, allocate_pinned("cudaHostAlloc", SIM_MEMORY, bytes, flags, SIM_PLACE), size_t bytes,
              unsigned flags)
SIM_ALLOCATES(cudaMallocAsync, allocate_async(SIM_MEMORY, bytes, stream, SIM_PLACE), size_t bytes, cudaStream_t stream)
#undef SIM_MEMORY
#undef SIM_ALLOCATES

template <typename T>
inline cudaError_t cudaHostGetDevicePointer(T** on_device, void* memory, unsigned flags)
{
    return cudaHostGetDevicePointer((void**)(void*)on_device, memory, flags);
}

// Copies.

// A function, and the one that puts the same work into a stream.
#define SIM_WITH_ASYNC(function, ...) \
    cudaError_t function(__VA_ARGS__); \
    cudaError_t function##Async(__VA_ARGS__, cudaStream_t stream = nullptr);
SIM_WITH_ASYNC(cudaMemcpy, void* to, const void* from, size_t bytes, cudaMemcpyKind kind)
SIM_WITH_ASYNC(cudaMemcpy2D, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
               size_t height, cudaMemcpyKind kind)
SIM_WITH_ASYNC(cudaMemcpy3D, const cudaMemcpy3DParms* copy)
SIM_WITH_ASYNC(cudaMemcpyPeer, void* to, int to_device, const void* from, int from_device, size_t bytes)
SIM_WITH_ASYNC(cudaMemset, void* memory, int value, size_t bytes)
SIM_WITH_ASYNC(cudaMemset2D, void* memory, size_t pitch, int value, size_t width, size_t height)
SIM_WITH_ASYNC(cudaMemset3D, cudaPitchedPtr memory, int value, cudaExtent extent)
#undef SIM_WITH_ASYNC
namespace sim {
void note_float_for_bytes(double value, const void* place);
}
// The value of cudaMemset is a byte. Programs mean an element when they give it a floating-point number.
template <typename Float, typename = std::enable_if_t<std::is_floating_point_v<Float>>>
SIM_FUNCTION cudaError_t cudaMemset(void* memory, Float value, size_t bytes)
{
    sim::note_float_for_bytes(double(value), SIM_PLACE);
    return cudaMemset(memory, int(value), bytes);
}

#define SIM_SYMBOL_COPY(function, to_symbol, other, ...) \
    template <typename T> \
    SIM_FUNCTION cudaError_t function(__VA_ARGS__) \
    { \
        return sim::copy_symbol({to_symbol, (const void*)&symbol, sizeof symbol, other, bytes, offset, kind}, true, \
                                nullptr, SIM_PLACE); \
    } \
    template <typename T> \
    SIM_FUNCTION cudaError_t function##Async(__VA_ARGS__, cudaStream_t stream = nullptr) \
    { \
        return sim::copy_symbol({to_symbol, (const void*)&symbol, sizeof symbol, other, bytes, offset, kind}, false, \
                                stream, SIM_PLACE); \
    }
SIM_SYMBOL_COPY(cudaMemcpyToSymbol, true, from, const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                cudaMemcpyKind kind = cudaMemcpyHostToDevice)
SIM_SYMBOL_COPY(cudaMemcpyFromSymbol, false, to, void* to, const T& symbol, size_t bytes, size_t offset = 0,
                cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
#undef SIM_SYMBOL_COPY

template <typename P, typename T>
inline cudaError_t cudaGetSymbolAddress(P** address, const T& symbol)
{
    return sim::symbol_address((void**)(void*)address, (const void*)&symbol);
}

template <typename T>
inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol)
{
    *bytes = sizeof symbol;
    return cudaSuccess;
}

// Streams and events.

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
// Preferences of a stream, which change nothing here.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value);
cudaError_t cudaCtxResetPersistingL2Cache();
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
// Gives NaN: the simulator measures no time.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaEventDestroy(cudaEvent_t event);

// Kernels.

cudaError_t cudaFuncSetAttribute(sim::KernelAddress kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, sim::KernelAddress kernel);
cudaError_t cudaFuncSetCacheConfig(sim::KernelAddress kernel, cudaFuncCache preferred);
cudaError_t cudaFuncSetSharedMemConfig(sim::KernelAddress kernel, cudaSharedMemConfig banks);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, sim::KernelAddress kernel, int threads,
                                                          size_t shared_bytes);
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, sim::KernelAddress kernel,
                                                                          int threads, size_t shared_bytes, unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_bytes);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, sim::KernelAddress kernel, int blocks,
                                                      int threads);
// A kernel whose type is lost cannot be launched: leave the cast away.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr);
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr);

// The block with which most threads run at a time; of several, the largest.
template <typename SharedBytes>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, sim::KernelAddress kernel,
                                                                  SharedBytes shared_bytes, int most = 0)
{
    if (!grid || !block) return cudaErrorInvalidValue;
    cudaFuncAttributes attributes;
    if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel)) return error;
    int device = 0, multiprocessors = 0, warp = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    if (const cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device))
        return error;
    if (const cudaError_t error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device)) return error;
    int best = 0;
    *grid = *block = 0;
    if (most == 0 || most > attributes.maxThreadsPerBlock) most = attributes.maxThreadsPerBlock;
    for (int rounded = (most + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
        const int threads = rounded < most ? rounded : most;
        int blocks = 0;
        if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                                                    size_t(shared_bytes(threads))))
            return error;
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *block = threads;
        *grid = blocks * multiprocessors;
    }
    return cudaSuccess;
}

template <typename SharedBytes>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block,
                                                                           sim::KernelAddress kernel,
                                                                           SharedBytes shared_bytes, int most = 0,
                                                                           unsigned = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, shared_bytes, most);
}

inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, sim::KernelAddress kernel,
                                                      size_t shared_bytes = 0, int most = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, kernel, [shared_bytes](int) { return shared_bytes; }, most);
}

inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, sim::KernelAddress kernel,
                                                               size_t shared_bytes = 0, int most = 0, unsigned = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared_bytes, most);
}

template <typename... Parameters>
SIM_FUNCTION cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                          size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    return sim::launch_with_pointers({grid, block, shared_bytes, stream}, kernel, arguments, SIM_PLACE,
                                     std::index_sequence_for<Parameters...>());
}

template <typename... Parameters>
SIM_FUNCTION cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3, dim3, void**, size_t = 0,
                                                     cudaStream_t = nullptr)
{
    return sim::refuse_cooperative((const void*)kernel, SIM_PLACE);
}

template <typename... Parameters>
SIM_FUNCTION cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, void (*kernel)(Parameters...),
                                             void** arguments)
{
    if (!sim::can_launch(*c, (const void*)kernel, SIM_PLACE)) return cudaErrorNotSupported;
    return sim::launch_with_pointers({c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream}, kernel, arguments,
                                     SIM_PLACE, std::index_sequence_for<Parameters...>());
}

template <typename... Parameters, typename... Arguments>
SIM_FUNCTION cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* c, void (*kernel)(Parameters...),
                                            Arguments&&... arguments)
{
    if (!sim::can_launch(*c, (const void*)kernel, SIM_PLACE)) return cudaErrorNotSupported;
    std::tuple<std::decay_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
    const void* const place = SIM_PLACE;
    return std::apply([&](auto&... value) {
        void* pointers[] = {(void*)&value..., nullptr};
        return sim::launch_with_pointers({c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream}, kernel, pointers,
                                         place, std::index_sequence_for<Parameters...>());
    }, values);
}

// Functions that need a GPU.

using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
#define SIM_NO_GRAPHS(function) SIM_NOT_SIMULATED(function, "CUDA graphs")
#define SIM_NO_ARRAYS(function) SIM_NOT_SIMULATED(function, "arrays and textures")
SIM_NO_GRAPHS(cudaGraphCreate)
SIM_NO_GRAPHS(cudaGraphInstantiate)
SIM_NO_GRAPHS(cudaGraphLaunch)
SIM_NO_GRAPHS(cudaGraphDestroy)
SIM_NO_GRAPHS(cudaGraphExecDestroy)
SIM_NO_GRAPHS(cudaStreamBeginCapture)
SIM_NO_GRAPHS(cudaStreamEndCapture)
SIM_NO_ARRAYS(cudaMallocArray)
SIM_NO_ARRAYS(cudaMalloc3DArray)
SIM_NO_ARRAYS(cudaFreeArray)
SIM_NO_ARRAYS(cudaMemcpyToArray)
SIM_NO_ARRAYS(cudaMemcpy2DToArray)
SIM_NO_ARRAYS(cudaCreateTextureObject)
SIM_NO_ARRAYS(cudaDestroyTextureObject)
SIM_NOT_SIMULATED(cudaCreateSurfaceObject, "surfaces")
SIM_NOT_SIMULATED(cudaDestroySurfaceObject, "surfaces")
SIM_NOT_SIMULATED(cudaIpcGetMemHandle, "memory shared by processes")
SIM_NOT_SIMULATED(cudaIpcOpenMemHandle, "memory shared by processes")
SIM_NOT_SIMULATED(cudaMemPoolCreate, "memory pools")
SIM_NOT_SIMULATED(cudaMallocFromPoolAsync, "memory pools")
#undef SIM_NO_ARRAYS
#undef SIM_NO_GRAPHS
