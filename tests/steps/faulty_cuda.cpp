// A CUDA runtime for common/devices/ whose calls fail when they are told to. Kernels run on the simulator's fibers,
// unwatched, in the host's memory. tests/steps/test_gpu_faults.py says what to expect.
//
//   FAULTY_CUDA='cudaMemcpy:3:700'    the third call of cudaMemcpy gives error 700, and so does all that is called
//   after it: the card is lost FAULTY_CUDA='cudaMalloc:2:2:once' that call alone fails FAULTY_CUDA='any:40:46' the 40th
//   call of any function FAULTY_CUDA='launch:1:98:once'    the first launch of a kernel FAULTY_CUDA='cards=2 taken=1'
//   two cards, the first of which another process has for itself (cards=0: none; taken=2: both)
//   FAULTY_CUDA='free=100000'         bytes of memory that are free on the card
//
// Functions and errors as in sim/cuda. Settings are separated by blanks.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/devices/launches.h"
#include "sim/cuda/sim_errors.h"
#include "sim/core/grid/simulator.h"

namespace {

struct Fault {
    std::string function;
    int call = 0, error = 0;
    bool once = false;
};

struct Card {
    int cards = 1, taken = 0, calls = 0;
    bool in_use = false;
    size_t free = size_t(1) << 30;
    std::vector<Fault> faults;
    std::map<std::string, int> calls_of;
    cudaError_t lost = cudaSuccess, last = cudaSuccess;

    Card()
    {
        const char* text = std::getenv("FAULTY_CUDA");
        std::istringstream settings(text ? text : "");
        for (std::string setting; settings >> setting;) {
            char name[64], once[8] = "";
            Fault fault;
            if (sscanf(setting.c_str(), "cards=%d", &cards) == 1 || sscanf(setting.c_str(), "taken=%d", &taken) == 1 ||
                sscanf(setting.c_str(), "free=%zu", &free) == 1)
                continue;
            if (sscanf(setting.c_str(), "%63[^:]:%d:%d:%7s", name, &fault.call, &fault.error, once) < 3) {
                fprintf(stderr, "FAULTY_CUDA: %s: expected NAME:CALL:ERROR[:once], cards=N, taken=N or free=BYTES\n",
                        setting.c_str());
                std::exit(2);
            }
            fault.function = name;
            fault.once = *once;
            faults.push_back(fault);
        }
    }

    cudaError_t give(cudaError_t error) { return error ? last = error : error; }

    cudaError_t called(const char* function)
    {
        ++calls;
        const int call = ++calls_of[function];
        if (lost) return give(lost);
        for (const Fault& fault : faults) {
            if (fault.function == "any" ? fault.call != calls : fault.function != function || fault.call != call)
                continue;
            if (!fault.once) lost = cudaError_t(fault.error);
            return give(cudaError_t(fault.error));
        }
        return cudaSuccess;
    }
};

Card& card()
{
    static Card& card = *new Card;
    return card;
}

std::map<void*, size_t>& allocated()
{
    static auto& bytes = *new std::map<void*, size_t>;
    return bytes;
}

cudaError_t on_a_card()
{
    card().in_use = true;
    if (card().cards == 0) return card().give(cudaErrorNoDevice);
    return card().taken < card().cards ? cudaSuccess : card().give(cudaErrorDevicesUnavailable);
}

}  // namespace

#define CALLED \
    if (const cudaError_t error = card().called(__func__)) return error
// Calls that need a context: CUDA makes it on the first card that is not taken.
#define CALLED_ON_A_CARD \
    CALLED;              \
    if (const cudaError_t error = on_a_card()) return error

struct CUevent_st {
    std::chrono::steady_clock::time_point recorded;
};

cudaError_t cudaGetDeviceCount(int* count)
{
    CALLED;
    *count = card().cards;
    return card().cards ? cudaSuccess : card().give(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int* device)
{
    CALLED_ON_A_CARD;
    *device = card().taken;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    CALLED;
    if (device >= card().cards) return card().give(cudaErrorInvalidDevice);
    std::memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "Card %d", device);
    properties->major = 9;
    properties->multiProcessorCount = 2;
    properties->l2CacheSize = 1 << 14;
    properties->totalGlobalMem = card().free;
    return cudaSuccess;
}

// No peak: no bandwidth is too high.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int)
{
    CALLED;
    *value = 0;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version)
{
    CALLED;
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total)
{
    CALLED_ON_A_CARD;
    *free = *total = card().free;
    return cudaSuccess;
}

cudaError_t cudaFree(void* memory)
{
    CALLED_ON_A_CARD;
    if (!memory) return cudaSuccess;
    sim::memory().remove(uintptr_t(memory));
    card().free += allocated()[memory];
    allocated().erase(memory);
    std::free(memory);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory)
{
    CALLED_ON_A_CARD;
    std::free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind)
{
    CALLED_ON_A_CARD;
    std::memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    CALLED_ON_A_CARD;
    std::memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event)
{
    CALLED_ON_A_CARD;
    *event = new CUevent_st;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    CALLED_ON_A_CARD;
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    CALLED_ON_A_CARD;
    event->recorded = std::chrono::steady_clock::now();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    CALLED_ON_A_CARD;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop)
{
    CALLED_ON_A_CARD;
    *ms = std::chrono::duration<float, std::milli>(stop->recorded - start->recorded).count();
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    CALLED_ON_A_CARD;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, sim::KernelAddress)
{
    CALLED_ON_A_CARD;
    *attributes = {};
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, sim::KernelAddress, int, size_t)
{
    CALLED_ON_A_CARD;
    *blocks = 1;
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = card().last;
    card().last = card().lost;
    return error;
}

const char* cudaGetErrorString(cudaError_t error)
{
#define TEXT(name, number, text) \
    case cudaError##name: return text;
    switch (error) {
        SIM_CUDA_ERRORS(TEXT)
        case cudaSuccess: return "no error";
    }
    return "unrecognized error code";
}

namespace sim {

// cudaMalloc and cudaMallocHost, in these headers.
cudaError_t allocate(void** memory, size_t bytes, const void*)
{
    if (const cudaError_t error = card().called("cudaMalloc")) return error;
    if (const cudaError_t error = on_a_card()) return error;
    if (bytes > card().free) return card().give(cudaErrorMemoryAllocation);
    *memory = std::malloc(bytes);
    card().free -= bytes;
    allocated()[*memory] = bytes;
    sim::memory().add({uintptr_t(*memory), bytes, uintptr_t(*memory), "the card's memory"});
    return cudaSuccess;
}

cudaError_t allocate_pinned(const char* function, void** memory, size_t bytes, unsigned, const void*)
{
    if (const cudaError_t error = card().called(function)) return error;
    if (const cudaError_t error = on_a_card()) return error;
    *memory = std::malloc(bytes);
    return cudaSuccess;
}

void note_elements(const void*, size_t, size_t, const unsigned char*) {}
void operator,(Discarded, cudaError_t) {}

}  // namespace sim

namespace {

// Kernels of a card are not counted, so their report is dropped.
struct FaultyLauncher : sim::Launcher {
    void launch(const sim::Launching& launching, const sim::Code& code) override
    {
        const sim::Configuration& c = launching.configuration;
        cuda::note_launch(launching.kernel, c.grid, c.block, launching.arguments);
        if (!card().called("launch") && !on_a_card()) sim::run_grid(launching, code, {});
    }
};

const bool registered = [] {
    static FaultyLauncher launcher;
    sim::use_launcher(&launcher);
    return true;
}();

}  // namespace
