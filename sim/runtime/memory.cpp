// What the program allocates.
//
// Memory of a device lies in a range of addresses of its own, and that of the host that devices may touch in
// another. No address is used twice, so that each tells which allocation it was of, freed or not. The host may
// not touch the devices' ranges: but for kernels and copies, they are closed.

#include "runtime.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>

#include "../../common/base/error.h"
#include "../../common/base/limits.h"
#include "../core/global_checker.h"
#include "../core/symbols.h"
#include "../core/devices.h"
#include "devices.h"
#include "notes.h"
#include "options.h"
#include "timeline.h"

namespace sim {
namespace {

using harness::format;

constexpr uintptr_t page = 2 << 20;       // of the GPU
constexpr uintptr_t alignment = 512;      // of an allocation
constexpr uintptr_t gap = 64 << 10;       // behind each one, so that an index just beyond its end lies in no other
constexpr uint64_t large = 1 << 20;       // from here on, an allocation begins on a page
constexpr uint64_t most_reserved = uint64_t(1) << 41;
constexpr uint64_t most_filled = 256 << 20;
constexpr uint64_t managed_address = uint64_t(1) << 40;  // on the GPU, of the first byte that the host may touch, too

uintptr_t rounded(uintptr_t n, uintptr_t to) { return (n + to - 1) / to * to; }

// A range of addresses with nothing behind them at first.
class Reserve {
public:
    // Of at most so many bytes; less where there is no room for them.
    Reserve(uint64_t first_gpu_address, uint64_t most) : first_gpu_address_(first_gpu_address)
    {
        for (bytes_ = most / page * page; bytes_ >= page; bytes_ = bytes_ / 2 / page * page) {
            void* memory = mmap(nullptr, bytes_ + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) continue;
            begin_ = next_ = rounded(uintptr_t(memory), page);
            return;
        }
        bytes_ = 0;
    }

    bool holds(uintptr_t address) const { return address - begin_ < bytes_; }
    uint64_t gpu_address(uintptr_t address) const { return address - begin_ + first_gpu_address_; }

    // 0 if there is no room.
    uintptr_t take(uint64_t bytes, uintptr_t align)
    {
        const uintptr_t begin = rounded(next_, align);
        if (bytes > bytes_ || begin + bytes + gap - begin_ > bytes_) return 0;
        next_ = begin + bytes + gap;
        return begin;
    }

    uint64_t room() const
    {
        const uint64_t used = rounded(next_, page) + gap - begin_;
        return used < bytes_ ? bytes_ - used : 0;
    }

    // What was taken so far.
    void protect(int protection) const
    {
        if (next_ > begin_) mprotect(reinterpret_cast<void*>(begin_), rounded(next_ - begin_, page), protection);
    }

private:
    uint64_t first_gpu_address_;
    uintptr_t begin_ = 0, next_ = 0;
    uint64_t bytes_ = 0;
};

// Settings of a device's pool, kept for who asks: it gives all memory back at once.
struct Pool {
    uint64_t release_threshold = 0;
    int reuse[3] = {1, 1, 1};  // from cudaMemPoolReuseFollowEventDependencies on
};

// Half of the addresses that the process may have (ulimit -v) are left to the program: a share of the others.
uint64_t reserved(int shares) { return std::min(most_reserved, harness::address_limit() / 2 / shares); }

struct State {
    std::vector<Reserve> devices;
    Reserve shared{managed_address, reserved(device_count() + 1)};  // with the host
    std::map<uintptr_t, Block> blocks;           // by address
    uint64_t in_use[most_devices] = {};          // bytes of each device's
    uint64_t allocations = 0;                    // ever
    int open = 0;                                // calls of open_device_memory
    Pool pools[most_devices];

    State()
    {
        for (int device = 0; device < device_count(); ++device) devices.emplace_back(0, reserved(device_count() + 1));
    }
};

State& state()
{
    static State& state = *new State;  // used until the very end
    return state;
}

uint64_t left(uint64_t of, uint64_t used) { return of - std::min(of, used); }

// What the host has for a device.
uint64_t free_host_memory(int device)
{
    static const uint64_t host = harness::available_memory();  // as it was at first: most of what is in use may not have been touched
    const auto& used = state().in_use;
    return std::min(left(host, std::accumulate(std::begin(used), std::end(used), uint64_t(0))), state().devices[size_t(device)].room());
}

uint64_t free_device_memory(int device) { return left(total_memory(), state().in_use[device]); }

uint64_t free_memory(int device) { return std::min(free_device_memory(device), free_host_memory(device)); }

// Many programs do not look at the error, and go on with a null pointer.
cudaError_t no_memory(const std::string& name, uint64_t bytes, uint64_t free, const std::string& whose)
{
    program_note(name + ": cudaErrorMemoryAllocation: it asks for " + harness::size_text(bytes) + ", and " + whose + " has " + harness::size_text(free) + " left");
    return result(cudaErrorMemoryAllocation);
}

std::string name_of(const char* function, int device, const void* place)
{
    const std::string variable = first_argument(place, function), where = at(place) + (device >= 0 && device_count() > 1 ? format(", device %d", device) : "");
    return (variable.empty() ? "memory from " + std::string(function) : variable + " (" + function) + " " + where + (variable.empty() ? "" : ")");
}

void note_account(const Allocation& a)
{
    if (!a.shadow || !a.shadow->gave_up()) return;
    if (!a.shadow->began())
        return program_note(a.name + " is too large for the search for races and uninitialized loads");
    program_note("the search for races and uninitialized loads in " + a.name +
                 " ended early, because its record took too much memory; what it found before holds");
}

Block& enter_block(Owner owner, int device, const char* function, uintptr_t begin, uint64_t bytes, uint64_t gpu_address, unsigned flags, const void* place)
{
    Allocation allocation{};
    allocation.begin = begin;
    allocation.bytes = bytes;
    allocation.gpu_address = gpu_address;
    allocation.device = device;
    allocation.name = name_of(function, device, place);
    Allocation& known = memory().add(allocation);
    if (owner == Owner::device || owner == Owner::managed) known.shadow = std::make_shared<Shadow>(bytes);
    // Nobody sees what the host writes there, or knows what the blocks would have written that are not in a sample.
    if (known.shadow && (owner == Owner::managed || program_options().blocks)) known.shadow->note_written(0, bytes);
    Block& block = state().blocks[begin];
    block = {owner, device < 0 ? current_device() : device, &known, flags, ++state().allocations, ""};
    return block;
}

// Nobody may rely on what memory holds at first.
void fill(uintptr_t begin, uint64_t bytes)
{
    if (bytes <= most_filled) std::memset(reinterpret_cast<void*>(begin), 0xff, bytes);
}

cudaError_t allocate_as(const char* function, int device, void** memory, size_t bytes, const void* place)
{
    if (!memory) return result(cudaErrorInvalidValue);
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    State& s = state();
    Reserve& reserve = s.devices[size_t(device)];
    const uintptr_t begin = bytes > free_memory(device) ? 0 : reserve.take(bytes, bytes >= large ? page : alignment);
    if (!begin) {
        const bool full = bytes > free_device_memory(device);
        return no_memory(name_of(function, device, place), bytes, full ? free_device_memory(device) : free_host_memory(device), full ? "the " + machine().label : "the host");
    }
    open_device_memory();
    fill(begin, bytes);
    close_device_memory();
    enter_block(Owner::device, device, function, begin, bytes, reserve.gpu_address(begin), 0, place);
    s.in_use[device] += bytes;
    *memory = reinterpret_cast<void*>(begin);
    return cudaSuccess;
}

cudaError_t allocate_shared(Owner owner, const char* function, void** memory, size_t bytes, unsigned flags, const void* place)
{
    if (!memory) return result(cudaErrorInvalidValue);
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    State& s = state();
    // Whole pages: they are taken away when the memory is freed.
    const uintptr_t host_page = sysconf(_SC_PAGESIZE);
    const uint64_t free = harness::available_memory();
    const uintptr_t begin = bytes > free ? 0 : s.shared.take(rounded(bytes, host_page), bytes >= large ? page : host_page);
    if (!begin || mprotect(reinterpret_cast<void*>(begin), rounded(bytes, host_page), PROT_READ | PROT_WRITE) != 0)
        return no_memory(name_of(function, -1, place), bytes, std::min(free, s.shared.room()), "the host");
    enter_block(owner, -1, function, begin, bytes, s.shared.gpu_address(begin), flags, place);
    *memory = reinterpret_cast<void*>(begin);
    return cudaSuccess;
}

// Rows of so many bytes, each with a pitch; CUDA gives none to an empty array.
cudaError_t allocate_rows(const char* function, void** memory, size_t* pitch, size_t width, size_t height, const void* place)
{
    *pitch = 0;
    size_t bytes = 0;
    const size_t rounded_up = width ? (width - 1) / alignment + 1 : 0;
    if (width && height && (__builtin_mul_overflow(rounded_up, size_t(alignment), pitch) || __builtin_mul_overflow(*pitch, height, &bytes)))
        return result(cudaErrorInvalidValue);
    return allocate_as(function, current_device(), memory, bytes, place);
}

// Gives the pages back, and keeps the addresses.
void give_back(const Allocation& a, bool close)
{
    const uintptr_t host_page = sysconf(_SC_PAGESIZE);
    const uintptr_t begin = rounded(a.begin, host_page), end = (a.begin + a.bytes + (close ? host_page - 1 : 0)) / host_page * host_page;
    if (begin >= end) return;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    if (close) mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE);
}

void mark_freed(Block& block, const std::string& where)
{
    Allocation& a = *block.allocation;
    a.freed = true;
    note_account(a);
    a.shadow.reset();
    block.freed_at = where;
    if (block.owner == Owner::device) state().in_use[a.device] -= a.bytes;
    give_back(a, block.owner != Owner::device);
}

cudaError_t release(const char* function, void* memory, bool pinned, const void* place)
{
    if (!memory) return cudaSuccess;
    const uintptr_t address = uintptr_t(memory);
    Block* block = block_of(address);
    const std::string where = at(place);
    const auto refuse = [&](const std::string& what) {
        program_finding(format("bad free: %s %s: ", function, where.c_str()) + what);
        return result(cudaErrorInvalidValue);
    };
    if (!block || block->owner == Owner::registered)
        return refuse(in_device_range(address) ? format("%p was never allocated", memory)
                                               : format("%p is memory of the host, not from %s", memory, pinned ? "cudaMallocHost" : "cudaMalloc"));
    const Allocation& a = *block->allocation;
    if (address != a.begin) return refuse(format("the pointer is to byte %llu of %s; free its beginning", (unsigned long long)(address - a.begin), a.name.c_str()));
    if (a.freed) return refuse(a.name + " was freed before, " + block->freed_at);
    if (pinned != (block->owner == Owner::pinned)) return refuse(a.name + ": use " + (pinned ? "cudaFree" : "cudaFreeHost"));
    mark_freed(*block, where);
    return cudaSuccess;
}

}  // namespace

uint64_t total_memory() { return machine().dram_bytes; }

void open_device_memory()
{
    const RuntimeLock lock;
    if (state().open++ == 0)
        for (const Reserve& reserve : state().devices) reserve.protect(PROT_READ | PROT_WRITE);
}

void close_device_memory()
{
    const RuntimeLock lock;
    if (--state().open == 0)
        for (const Reserve& reserve : state().devices) reserve.protect(PROT_NONE);
}

bool in_device_range(uintptr_t address)
{
    const std::vector<Reserve>& all = state().devices;
    return std::any_of(all.begin(), all.end(), [&](const Reserve& reserve) { return reserve.holds(address); });
}

int device_at(uintptr_t address)
{
    const Block* block = block_of(address);
    return block ? block->allocation->device : -1;
}

Block* block_of(uintptr_t address)
{
    auto& blocks = state().blocks;
    auto next = blocks.upper_bound(address);
    if (next == blocks.begin()) return nullptr;
    Block& block = std::prev(next)->second;
    return block.allocation->holds(address) ? &block : nullptr;
}

Owner variable_at(uintptr_t address)
{
    struct Variables {
        std::vector<Symbol> device, managed;
        Variables()
        {
            managed = device_variables("sim_managed");
            for (const char* section : {"sim_device", "sim_device_const", "sim_device_table", "sim_constant", "sim_constant_const"})
                for (const Symbol& s : device_variables(section)) device.push_back(s);
        }
    };
    static const Variables& variables = *new Variables;
    const auto holds = [&](const Symbol& s) { return address - s.address < s.bytes; };
    if (std::any_of(variables.device.begin(), variables.device.end(), holds)) return Owner::device;
    return std::any_of(variables.managed.begin(), variables.managed.end(), holds) ? Owner::managed : Owner::none;
}

std::string address_text(uintptr_t address)
{
    const auto in = [&](const Allocation& a) {
        const int64_t offset = int64_t(address - a.begin);
        if (offset < 0) return format("%lld bytes before %s", -(long long)offset, a.name.c_str());
        if (uint64_t(offset) >= a.bytes) return format("%llu bytes beyond the end of %s", (unsigned long long)(offset - a.bytes), a.name.c_str());
        return format("byte %lld of %s", (long long)offset, a.name.c_str());
    };
    if (const Block* block = block_of(address)) return in(*block->allocation) + (block->allocation->freed ? ", which was freed " + block->freed_at : "");
    if (const Allocation* a = memory().find(address)) return in(*a);
    const Allocation* a = in_device_range(address) || state().shared.holds(address) ? memory().nearest(address) : nullptr;
    return a ? in(*a) : format("%p", reinterpret_cast<void*>(address));
}

void free_everything(int device)
{
    for (auto& entry : state().blocks)
        if (!entry.second.allocation->freed && entry.second.owner != Owner::registered && entry.second.device == device) mark_freed(entry.second, "by cudaDeviceReset");
}

void note_accounts()
{
    for (const auto& allocation : memory().all()) note_account(*allocation);
}

std::vector<std::string> never_freed()
{
    std::vector<const Block*> left;
    for (const auto& entry : state().blocks)
        if (!entry.second.allocation->freed && entry.second.owner != Owner::registered) left.push_back(&entry.second);
    std::sort(left.begin(), left.end(), [](const Block* a, const Block* b) { return a->number < b->number; });
    std::vector<std::string> lines;
    for (const Block* each : left) {
        const Block& block = *each;
        lines.push_back(format("never freed: %s, %llu bytes; call %s", block.allocation->name.c_str(), (unsigned long long)block.allocation->bytes,
                               block.owner == Owner::pinned ? "cudaFreeHost" : "cudaFree"));
    }
    return lines;
}

void note_elements(const void* pointer, size_t bytes, size_t alignment)
{
    if (Allocation* allocation = memory().find(uintptr_t(pointer))) allocation->elements = {bytes, alignment};
}

cudaError_t allocate(void** memory, size_t bytes, const void* place)
{
    SIM_ENTER(false);
    return allocate_as("cudaMalloc", current_device(), memory, bytes, place);
}

cudaError_t allocate_async(void** memory, size_t bytes, cudaStream_t stream, const void* place)
{
    SIM_ENTER(false);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    return allocate_as("cudaMallocAsync", device_of(stream), memory, bytes, place);
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
    return allocate_shared(Owner::managed, "cudaMallocManaged", memory, bytes, 0, place);
}

cudaError_t allocate_pinned(const char* function, void** memory, size_t bytes, unsigned flags, const void* place)
{
    SIM_ENTER(false);
    if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)) return result(cudaErrorInvalidValue);
    return allocate_shared(Owner::pinned, function, memory, bytes, flags, place);
}

}  // namespace sim

using namespace sim;

cudaError_t cudaMalloc(void** memory, size_t bytes) { return allocate(memory, bytes, SIM_PLACE); }
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream) { return allocate_async(memory, bytes, stream, SIM_PLACE); }
cudaError_t cudaMallocPitch(void** memory, size_t* pitch, size_t width, size_t height) { return allocate_pitched(memory, pitch, width, height, SIM_PLACE); }
cudaError_t cudaMallocManaged(void** memory, size_t bytes, unsigned flags) { return allocate_managed(memory, bytes, flags, SIM_PLACE); }
cudaError_t cudaMallocHost(void** memory, size_t bytes) { return allocate_pinned("cudaMallocHost", memory, bytes, cudaHostAllocDefault, SIM_PLACE); }
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned flags) { return allocate_pinned("cudaHostAlloc", memory, bytes, flags, SIM_PLACE); }

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent)
{
    SIM_ENTER(false);
    if (!memory) return result(cudaErrorInvalidValue);
    *memory = {nullptr, 0, extent.width, extent.height};
    size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return result(cudaErrorInvalidValue);
    return allocate_rows("cudaMalloc3D", &memory->ptr, &memory->pitch, extent.width, rows, SIM_PLACE);
}

cudaError_t cudaFree(void* memory)
{
    SIM_ENTER(true);
    timeline().host_waits_for_all();
    return release("cudaFree", memory, false, SIM_PLACE);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t)
{
    SIM_ENTER(false);
    return release("cudaFreeAsync", memory, false, SIM_PLACE);
}

cudaError_t cudaFreeHost(void* memory)
{
    SIM_ENTER(true);
    return release("cudaFreeHost", memory, true, SIM_PLACE);
}

cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags)
{
    SIM_ENTER(false);
    const uintptr_t address = uintptr_t(memory);
    const unsigned kept = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (!memory || bytes == 0 || flags & ~(kept | cudaHostRegisterReadOnly)) return result(cudaErrorInvalidValue);
    if (in_device_range(address) || state().shared.holds(address)) return result(cudaErrorInvalidValue);
    for (const auto& a : sim::memory().all())
        if (!a->freed && address < a->begin + a->bytes && a->begin < address + bytes) return result(cudaErrorHostMemoryAlreadyRegistered);
    enter_block(Owner::registered, -1, "cudaHostRegister", address, bytes, managed_address * 2 + address, flags & kept, SIM_PLACE);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* memory)
{
    SIM_ENTER(false);
    const Block* block = block_of(uintptr_t(memory));
    if (memory && !block) return result(cudaErrorHostMemoryNotRegistered);
    if (!memory || block->owner != Owner::registered || block->allocation->begin != uintptr_t(memory)) return result(cudaErrorInvalidValue);
    state().blocks.erase(uintptr_t(memory));
    sim::memory().remove(uintptr_t(memory));
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void** on_device, void* memory, unsigned flags)
{
    SIM_ENTER(false);
    const Block* block = block_of(uintptr_t(memory));
    if (!on_device || flags || !block || block->allocation->freed || block->owner == Owner::device) return result(cudaErrorInvalidValue);
    *on_device = memory;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* memory)
{
    SIM_ENTER(false);
    const Block* block = block_of(uintptr_t(memory));
    if (!flags || !block || (block->owner != Owner::pinned && block->owner != Owner::registered)) return result(cudaErrorInvalidValue);
    *flags = block->flags | cudaHostAllocMapped;
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
    const Block* block = block_of(uintptr_t(pointer));
    const Owner owner = !block ? variable_at(uintptr_t(pointer)) : block->allocation->freed ? Owner::none : block->owner;
    switch (owner) {
        case Owner::none: *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, p}; break;
        case Owner::device: *attributes = {cudaMemoryTypeDevice, block ? block->allocation->device : current_device(), p, nullptr}; break;
        case Owner::managed: *attributes = {cudaMemoryTypeManaged, current_device(), p, p}; break;
        case Owner::pinned:
        case Owner::registered: *attributes = {cudaMemoryTypeHost, current_device(), p, p}; break;
    }
    return cudaSuccess;
}

// Advice on where managed memory should be: there is one memory here.

namespace {

bool is_managed(const void* memory, size_t bytes)
{
    const Block* block = block_of(uintptr_t(memory));
    if (!block || block->owner != Owner::managed || block->allocation->freed) return false;
    return bytes <= block->allocation->begin + block->allocation->bytes - uintptr_t(memory);
}

// Before CUDA 13, a place was the number of a device, and that of the host negative.
cudaMemLocation location(int device) { return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device}; }

bool exists(cudaMemLocation place)
{
    switch (place.type) {
        case cudaMemLocationTypeDevice: return place.id >= 0 && place.id < device_count();
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
    return result(exists(place) ? cudaSuccess : place.type == cudaMemLocationTypeDevice ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}

// Where the bytes should be: only the advice that names a place needs one that exists.
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
        case cudaMemAdviseUnsetAccessedBy: return result(exists(place) && place.type <= cudaMemLocationTypeHost ? cudaSuccess : cudaErrorInvalidValue);
        default: return result(cudaErrorInvalidValue);
    }
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, int device, cudaStream_t stream) { return prefetch(memory, bytes, location(device), 0, stream); }
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t bytes, cudaMemLocation place, unsigned flags, cudaStream_t stream) { return prefetch(memory, bytes, place, flags, stream); }
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, int device) { return advise(memory, bytes, advice, location(device)); }
cudaError_t cudaMemAdvise(const void* memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation place) { return advise(memory, bytes, advice, place); }

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t bytes, unsigned flags)
{
    SIM_ENTER(false);
    if (!known_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    const bool good = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    return result(good && is_managed(memory, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}

static cudaMemPool_t pool_of(int device) { return reinterpret_cast<cudaMemPool_t>(&state().pools[device]); }
static bool known_pool(cudaMemPool_t pool) { return pool >= pool_of(0) && pool <= pool_of(device_count() - 1); }

// Null if the attribute is not one of reuse.
static int* reuse_of(Pool& pool, cudaMemPoolAttr attribute)
{
    const int i = attribute - cudaMemPoolReuseFollowEventDependencies;
    return i >= 0 && i < 3 ? &pool.reuse[i] : nullptr;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device)
{
    SIM_ENTER(false);
    if (device < 0 || device >= device_count()) return result(cudaErrorInvalidDevice);
    if (!pool) return result(cudaErrorInvalidValue);
    *pool = pool_of(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
{
    SIM_ENTER(false);
    if (!known_pool(pool) || !value) return result(cudaErrorInvalidValue);
    Pool& settings = *reinterpret_cast<Pool*>(pool);
    if (int* reuse = reuse_of(settings, attribute)) {
        *reuse = *static_cast<const int*>(value);
        return cudaSuccess;
    }
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold: settings.release_threshold = *static_cast<const uint64_t*>(value); return cudaSuccess;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh: return result(*static_cast<const uint64_t*>(value) ? cudaErrorInvalidValue : cudaSuccess);  // 0 begins anew
        default: return result(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
{
    SIM_ENTER(false);
    if (!known_pool(pool) || !value) return result(cudaErrorInvalidValue);
    Pool& settings = *reinterpret_cast<Pool*>(pool);
    if (const int* reuse = reuse_of(settings, attribute)) {
        *static_cast<int*>(value) = *reuse;
        return cudaSuccess;
    }
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold: *static_cast<uint64_t*>(value) = settings.release_threshold; return cudaSuccess;
        case cudaMemPoolAttrReservedMemCurrent:
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemCurrent:
        case cudaMemPoolAttrUsedMemHigh: *static_cast<uint64_t*>(value) = state().in_use[&settings - state().pools]; return cudaSuccess;
        default: return result(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) { return result(known_pool(pool) ? cudaSuccess : cudaErrorInvalidValue); }

// A pool's own device can read and write its memory, and nothing else can be set here.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count)
{
    SIM_ENTER(false);
    if (!known_pool(pool) || (count && !list)) return result(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        const cudaMemAccessDesc& wanted = list[i];
        if (wanted.location.type != cudaMemLocationTypeDevice) return result(cudaErrorInvalidValue);
        if (wanted.location.id < 0 || wanted.location.id >= device_count()) return result(cudaErrorInvalidDevice);
        const int owner = int(reinterpret_cast<const Pool*>(pool) - state().pools);
        if (wanted.location.id == owner && wanted.flags == cudaMemAccessFlagsProtReadWrite) continue;
        program_finding(
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
    if (location->id < 0 || location->id >= device_count()) return result(cudaErrorInvalidDevice);
    const bool owner = reinterpret_cast<const Pool*>(pool) - state().pools == location->id;
    *flags = owner ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}
