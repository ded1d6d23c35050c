// What memory a kernel may touch: the matrices of the harness, or what a program allocated, and the
// variables that its source declares for the device.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace harness {
struct Contents;
}

namespace sim {

class Shadow;  // who accessed each byte last: races.h

// A piece of the GPU's memory.
struct Allocation {
    uintptr_t begin;
    uint64_t bytes;
    uint64_t gpu_address;   // where it lies in the GPU's memory
    std::string name;       // for a reader: odata, or "d_a (cudaMalloc at program.cu:31)"
    bool constant = false;  // idata: may only be loaded from
    bool counted = true;    // false: __constant__ memory, which has a cache of its own
    bool freed = false;
    const harness::Contents* unwritten = nullptr;  // what the elements of an output hold until they are written
    std::shared_ptr<Shadow> shadow = nullptr;  // with it, races and uninitialized loads are looked for

    bool holds(uintptr_t address) const { return address - begin < bytes; }
};

// All of them, by address. They do not overlap. Not to be changed while a kernel runs.
class Memory {
public:
    Allocation& add(const Allocation& allocation);
    void remove(uintptr_t begin);  // forgets it altogether
    void clear();
    // The one that holds the address, freed ones included, or null.
    Allocation* find(uintptr_t address);
    // The nearest to it, or null if there are none.
    Allocation* nearest(uintptr_t address);
    const std::vector<std::unique_ptr<Allocation>>& all() const { return all_; }

private:
    std::vector<std::unique_ptr<Allocation>> all_;  // by address
};

Memory& memory();

}  // namespace sim
