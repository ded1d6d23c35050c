// Where a kernel's arrays lie. In: the records of the program's shared arrays. Out: the address of each array on this
// host thread, and its offset in the shared memory of a GPU.
//
// Arrays of the kernel are laid out as nvcc does, in the order of their declarations, each aligned as its type.
// Arrays of a function that the kernel calls lie behind them, each at bank 0, wherever the function is called from.
// Dynamic shared memory comes behind the kernel's own arrays. The arrays are known when the launch names its kernel, or
// else when control comes to a declaration.
//
// Invariant: the offset does not depend on the order of calls. All arrays are filled with ones before a block, so that
// the block cannot use what an earlier one left. The search is linear in the arrays, and begins at the array that was
// found last.

#include "shared_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "../../../common/base/error.h"
#include "../../elf/symbols.h"
#include "declared_list.h"

namespace sim {
namespace {

// Dynamic shared memory has room even if the launch asks for none. An access to it is then reported as such.
constexpr uint64_t least_room = 1 << 16;

constexpr uint64_t alignment = 256;  // of an array on this host thread: two rows of 32 banks of 4 bytes, one of 8

uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

void SharedMemory::start(const void* kernel, uint64_t dynamic_bytes)
{
    recent_ = 0;
    if (!room_ || in_front + dynamic_bytes > room_bytes_) {
        std::free(room_);
        room_bytes_ = in_front + round_up(std::max(dynamic_bytes, least_room), 1024);
        room_ = std::aligned_alloc(1024, room_bytes_);
        if (!room_) harness::out_of_memory();
    }
    // A program may launch from several host threads, each of which has its own arrays.
    const uintptr_t base = thread_local_base();
    if (kernel && kernel == kernel_ && dynamic_bytes == dynamic_bytes_ && base == base_) return;
    kernel_ = kernel;
    base_ = base;
    arrays_.clear();
    all_.clear();
    for (const Declared* r = records; r; r = r->next)
        if (r->kind <= Declared::shared_of_kernel) all_.push_back({uintptr_t(r->address()), r});
    std::sort(all_.begin(), all_.end());
    std::fill(std::begin(declared), std::end(declared), 0);
    static_bytes_ = end_ = cells_ = 0;
    if (const Symbol* function = kernel ? function_at(uint64_t(kernel)) : nullptr) add_arrays_of(*function);
    dynamic_bytes_ = dynamic_bytes;
    if (dynamic_bytes) {
        const uint64_t static_bytes = static_bytes_;
        add(uintptr_t(dynamic()), dynamic_bytes, "dynamic shared memory", round_up(end_, 16));
        static_bytes_ = static_bytes;
    }
}

void SharedMemory::add_arrays_of(const Symbol& kernel)
{
    std::vector<std::pair<uintptr_t, const Declared*>> own;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(own), [&](const auto& array) {
        return array.second->kind == Declared::shared_of_kernel && declared_in(*array.second, kernel);
    });
    std::stable_sort(own.begin(), own.end(),
                     [](const auto& a, const auto& b) { return a.second->order < b.second->order; });
    for (const auto& [begin, record] : own) {
        if (find(begin)) continue;
        const uint64_t offset = round_up(end_, record->alignment);
        add(*record, begin, offset);
        end_ = offset + record->bytes;
    }
}

// An array of a function that the kernel calls. Its place must not depend on the time of the call: it lies behind
// those of the kernel itself.
SharedArray& SharedMemory::add_called(const Declared& array, uintptr_t begin)
{
    return add(array, begin, (uint64_t(1) << 20) + (begin - base_) / alignment * alignment);
}

void SharedMemory::declare(uintptr_t address, const Declared& array, uint64_t place)
{
    if (find(address)) return;
    const Symbol* function = function_at(place - 1);
    if (function && !kernel_ && array.kind == Declared::shared_of_kernel && declared_in(array, *function)) {
        // The launch did not tell which kernel it is of. Dynamic shared memory lies behind what the kernel has itself.
        add_arrays_of(*function);
        if (dynamic_bytes_) arrays_[0]->gpu_address = round_up(end_, 16);
    } else {
        add_called(array, address);
    }
}

// The compiler knows where an array begins, so the elements are aligned as far as their size allows.
SharedArray& SharedMemory::add(const Declared& array, uintptr_t begin, uint64_t offset)
{
    const unsigned bytes = array.element_bytes;
    return add(begin, array.bytes, std::string("shared memory (") + array.name + ")", offset,
               {bytes, bytes & -bytes, array.members()});
}

SharedArray& SharedMemory::add(uintptr_t begin, uint64_t bytes, const std::string& name, uint64_t offset,
                                     Elements elements)
{
    arrays_.push_back(std::make_unique<SharedArray>(begin, bytes, offset, name, cells_));
    arrays_.back()->elements = elements;
    cells_ += round_up(bytes, 16);
    static_bytes_ += bytes;
    std::memset(reinterpret_cast<void*>(begin), 0xff, bytes);
    return *arrays_.back();
}

SharedArray* SharedMemory::find(uintptr_t address)
{
    if (recent_ < arrays_.size() && arrays_[recent_]->holds(address)) return arrays_[recent_].get();
    for (size_t i = 0; i < arrays_.size(); ++i)
        if (arrays_[i]->holds(address)) {
            recent_ = i;
            return arrays_[i].get();
        }
    return nullptr;
}

SharedArray* SharedMemory::find(uintptr_t address, uint64_t place)
{
    if (SharedArray* known = find(address)) return known;
    const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                        [](uintptr_t a, const auto& array) { return a < array.first; });
    if (after == all_.begin()) return nullptr;
    const auto& [begin, array] = *std::prev(after);
    if (address - begin >= array->bytes) return nullptr;
    const Symbol* function = function_at(place - 1);
    if (array->kind != Declared::shared && !(function && declared_in(*array, *function))) return nullptr;
    return &add_called(*array, begin);
}

const SharedArray* SharedMemory::nearest(uintptr_t address) const
{
    const SharedArray* nearest = nullptr;
    uint64_t least = 1 << 16;
    for (const auto& array : arrays_) {
        const uint64_t distance = address < array->begin ? array->begin - address : address - array->begin;
        const uint64_t outside = array->holds(address) || address < array->begin ? distance : distance - array->bytes;
        if (outside < least) {
            nearest = array.get();
            least = outside;
        }
    }
    return nearest;
}

const SharedArray* SharedMemory::wrapped(uintptr_t address) const
{
    for (const auto& array : arrays_)
        if (!array->holds(address) && uint32_t(address - array->begin) < array->bytes) return array.get();
    return nullptr;
}

void SharedMemory::poison()
{
    for (const auto& array : arrays_) std::memset(reinterpret_cast<void*>(array->begin), 0xff, array->bytes);
}

}  // namespace sim
