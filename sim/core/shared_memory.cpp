// Where a kernel's arrays lie. In: the program's symbols, and what the rewriter noted of each array. Out: the
// address of each array on this host thread, and its offset in the shared memory of a GPU.
//
// Arrays of the kernel are laid out as nvcc does, in the order of their declarations, each aligned as its type.
// Arrays of a function that the kernel calls lie behind them, each at bank 0, wherever the function is called from.
// Dynamic shared memory comes behind the kernel's own arrays. They are known when the launch names its kernel, or
// else when control comes to a declaration.
//
// Invariant: the offset does not depend on the order of calls. All arrays are filled with ones before a block, so
// that it profits from nothing that an earlier one left. The search is linear in the arrays, and begins at the one
// that was found last.

#include "shared_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "../../common/base/error.h"
#include "launch.h"
#include "../elf/symbols.h"
#include "witness.h"

namespace sim {
namespace {

// Dynamic shared memory has room even if the launch asks for none. An access to it is then reported as such.
constexpr uint64_t least_room = 1 << 16;

constexpr uint64_t alignment = 256;  // of an array on this host thread: two rows of 32 banks of 4 bytes, one of 8

uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

// Thread-local variables that are no shared memory: the simulator's.
bool own(std::string_view name)
{
    for (const char* prefix : {"_ZN3sim", "_ZN7harness", "_ZZN3sim", "_ZZN7harness", "_ZGV"})
        if (name.compare(0, std::strlen(prefix), prefix) == 0) return true;
    if (is_gap(name)) return true;
    return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
}

// Where nvcc would put an array: behind those declared before it in the same function, aligned as its type. And what it
// holds.
struct Layout {
    unsigned order = 0, align = 16;
    Elements elements;
};

Layout layout_of(const Symbol& array)
{
    const std::string name = variable_name(array), part = std::to_string(name.size()) + name;
    const size_t at = array.name.rfind(part);
    if (at == std::string_view::npos) return {};
    const auto noted = [&](const std::string& own) {
        return note(std::string(array.name).replace(at, part.size(), std::to_string(own.size()) + own));
    };
    const Symbol *found = noted("sim_array_" + name), *members = noted("sim_members_" + name);
    if (!found || found->bytes < 3 * sizeof(unsigned)) return {};
    const unsigned* values = reinterpret_cast<const unsigned*>(found->address);
    // Where an array begins is known to the compiler: the elements are aligned as far as their size allows.
    using Members = const unsigned char* (*)();
    return {values[0],
            std::max(1u, values[1]),
            {values[2], values[2] & -values[2],
             members ? (*reinterpret_cast<const Members*>(members->address))() : nullptr}};
}

// The arrays of all kernels of the program, by their offsets.
const std::vector<Symbol>& all_arrays()
{
    static const std::vector<Symbol> arrays = [] {
        std::vector<Symbol> arrays = thread_local_symbols();
        arrays.erase(std::remove_if(arrays.begin(), arrays.end(), [](const Symbol& s) { return own(s.name); }),
                     arrays.end());
        return arrays;
    }();
    return arrays;
}

// The array at an offset of the thread's local storage, or null.
const Symbol* array_at(uint64_t offset)
{
    const std::vector<Symbol>& all = all_arrays();
    const auto after =
        std::upper_bound(all.begin(), all.end(), offset, [](uint64_t o, const Symbol& s) { return o < s.address; });
    return after != all.begin() && offset - (after - 1)->address < (after - 1)->bytes ? &*(after - 1) : nullptr;
}

std::string name_of(const Symbol& array) { return "shared memory (" + variable_name(array) + ")"; }

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
    std::vector<std::pair<Layout, const Symbol*>> own;
    for (const Symbol& s : all_arrays())
        if (belongs_to(s, kernel)) own.push_back({layout_of(s), &s});
    std::stable_sort(own.begin(), own.end(),
                     [](const auto& a, const auto& b) { return a.first.order < b.first.order; });
    for (const auto& [layout, s] : own) {
        if (find(base_ + s->address)) continue;
        const uint64_t offset = round_up(end_, layout.align);
        add(base_ + s->address, s->bytes, name_of(*s), offset, layout.elements);
        end_ = offset + s->bytes;
    }
}

// An array of a function that the kernel calls. Its place must not depend on the time of the call: it lies behind
// those of the kernel itself.
const SharedArray& SharedMemory::add_called(const Symbol& array)
{
    return add(base_ + array.address, array.bytes, name_of(array),
               (uint64_t(1) << 20) + array.address / alignment * alignment, layout_of(array).elements);
}

void SharedMemory::declare(uintptr_t address, uint64_t place)
{
    if (find(address)) return;
    const Symbol* array = array_at(address - base_);
    const Symbol* function = place ? function_at(place - 1) : nullptr;
    if (!array) return;
    if (function && !kernel_ && belongs_to(*array, *function)) {
        // The launch did not tell which kernel it is of. Dynamic shared memory lies behind what the kernel has itself.
        add_arrays_of(*function);
        if (dynamic_bytes_) arrays_[0]->offset = round_up(end_, 16);
    } else {
        add_called(*array);
    }
}

const SharedArray& SharedMemory::add(uintptr_t begin, uint64_t bytes, const std::string& name, uint64_t offset,
                                     Elements elements)
{
    arrays_.push_back(std::make_unique<SharedArray>(SharedArray{begin, bytes, offset, cells_, name, elements}));
    cells_ += round_up(bytes, 16);
    static_bytes_ += bytes;
    std::memset(reinterpret_cast<void*>(begin), 0xff, bytes);
    if (witnessed) announce_range(begin, bytes);
    return *arrays_.back();
}

const SharedArray* SharedMemory::find(uintptr_t address)
{
    if (recent_ < arrays_.size() && arrays_[recent_]->holds(address)) return arrays_[recent_].get();
    for (size_t i = 0; i < arrays_.size(); ++i)
        if (arrays_[i]->holds(address)) {
            recent_ = i;
            return arrays_[i].get();
        }
    return nullptr;
}

const SharedArray* SharedMemory::find(uintptr_t address, uint64_t place)
{
    if (const SharedArray* known = find(address)) return known;
    const Symbol* array = array_at(address - base_);
    if (!array) return nullptr;
    const Symbol* function = function_at(place - 1);
    if (array->name.compare(0, 3, "_ZZ") == 0 && !(function && belongs_to(*array, *function))) return nullptr;
    return &add_called(*array);
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
