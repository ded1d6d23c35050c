// The memory that a kernel may touch: the matrices of the harness, or what a program allocated, and the
// variables that its source declares for the device. The shared memory of a block is in shared_memory.h.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../../common/base/counts.h"

namespace sim {

using harness::constant, harness::global, harness::local, harness::peer, harness::shared;
using harness::Space;

class Shadow;  // the last accesses to each byte: global_checker.h

// The type of a memory's elements, as it was declared.
struct Elements {
    uint64_t bytes = 0;  // of one; 0: unknown
    uint64_t alignment = 1;
    const unsigned char* members = nullptr;  // of an element's bytes, 0 where it is padding; null: not known

    bool pads(uint64_t offset) const { return members && !members[offset % bytes]; }
    bool known(uint64_t access) const { return access <= bytes; }
    // nvcc moves an element, or a structure inside it, in the largest pieces that its alignment allows, up to 16 bytes.
    // `offset`: of the structure, from where the memory begins.
    unsigned piece(uint64_t offset, uint64_t access) const
    {
        return 1u << __builtin_ctzll(alignment | offset % bytes | access | 16);
    }
    // True for structures of 16 bytes that are aligned to 8, as two doubles are: compilers report them like vectors.
    bool has_pairs() const { return alignment == 8 && bytes >= 16; }
};

// An output whose contents are verified after the kernel. The harness has filled it with values that no kernel stores,
// so it knows which elements were not stored to yet.
class Unwritten {
public:
    virtual ~Unwritten() = default;
    virtual uint64_t element_bytes() const = 0;
    // True if the nth element, which lies at this address, still has the value that it was filled with.
    virtual bool has(uint64_t n, const void* element) const = 0;
};

// The owner of memory that a program got from the CUDA runtime: a device, or the host, whose memory devices may touch,
// too.
enum class Owner { none, device, managed, pinned, registered };

// A range of addresses; empty at first.
struct Range {
    uintptr_t begin, bytes;
    bool holds(uintptr_t address) const { return address - begin < bytes; }
};

// Memory that kernels access.
struct Array : Range {
    Array(uintptr_t at, uint64_t size, uint64_t on_gpu, const std::string& named, Space in = global)
        : Range{at, size}, gpu_address(on_gpu), name(named), space(in)
    {
    }
    uint64_t gpu_address;  // where it lies in the GPU's memory, or in the block's shared memory
    std::string name;       // for a reader: odata, or "d_a (cudaMalloc at program.cu:31)"
    Space space;  // global, constant or shared
    Elements elements = {};

    bool in_shared() const { return space == shared; }
};

// A piece of the GPU's memory.
struct Allocation : Array {
    using Array::Array;
    bool read_only = false;  // idata: may only be loaded from
    bool freed = false;
    int device = -1;        // whose memory it is; -1: every device's own, or the host's
    const Unwritten* unwritten = nullptr;  // of an output: which elements were not stored to yet
    uint64_t first_element = 0;                    // of that output: the element at the beginning of this memory
    std::shared_ptr<Shadow> shadow = nullptr;  // null: races and uninitialized loads are not looked for
    enum : unsigned { loaded = 1, stored = 2 };
    unsigned touched = 0;  // how kernels have accessed it, until someone asks

    // The following members are known for memory that a program got from the CUDA runtime.
    Owner owner = Owner::none;
    int current_device = 0;       // when it was allocated
    unsigned flags = 0;
    uint64_t number = 0;          // in the order of time
    const void* place = nullptr;  // where the program allocated it
    std::string freed_at = {};    // "at program.cu:40"
};

// All allocations, by address. They do not overlap. They must not change while a kernel runs.
class Memory {
public:
    Allocation& add(const Allocation& allocation);
    void remove(uintptr_t begin);  // forgets it altogether
    void clear();
    // The allocation that holds the address, freed ones included, or null.
    Allocation* find(uintptr_t address);
    // The allocation nearest to the address, or null if there are none.
    Allocation* nearest(uintptr_t address);
    const std::vector<std::unique_ptr<Allocation>>& all() const { return all_; }

private:
    std::vector<std::unique_ptr<Allocation>> all_;  // by address
};

Memory& memory();

}  // namespace sim
