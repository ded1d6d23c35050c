// The shared memory of a block: which arrays there are, where they lie on this host thread, and where
// in the block's shared memory they would lie on hardware.
//
// A kernel's `__shared__` arrays are local variables of the host thread that runs the block. Their records (declared.h)
// have their names and sizes. Those of a function that the kernel calls are added when control comes to their
// declaration.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "memory.h"

namespace sim {

struct Declared;
struct Symbol;

// It begins at a multiple of 256 on this host thread, so that bank 0 is where it is on hardware.
struct SharedArray : Array {
    SharedArray(uintptr_t at, uint64_t size, uint64_t on_gpu, const std::string& named, uint64_t first_cell)
        : Array(at, size, on_gpu, named, shared), cell(first_cell)
    {
    }
    uint64_t cell;    // the first of its bytes, when all arrays' bytes are numbered in the order they were found
};

class SharedMemory {
public:
    SharedMemory() = default;
    ~SharedMemory() { std::free(room_); }
    SharedMemory(const SharedMemory&) = delete;

    // The arrays of another launch. `kernel`: its address, or null where it is not known.
    void start(const void* kernel, uint64_t dynamic_bytes);

    // Control has come to the declaration of the array at this address. `place`: in the function that declares it.
    void declare(uintptr_t address, const Declared& record, uint64_t place);

    bool empty() const { return arrays_.empty(); }  // so far
    const std::vector<std::unique_ptr<SharedArray>>& arrays() const { return arrays_; }
    // The array that holds the address, or null, among those that are known.
    SharedArray* find(uintptr_t address);
    // The same for an access at `place` that may be the first to its array. It also finds arrays of no function, and
    // arrays whose declaration was jumped over.
    SharedArray* find(uintptr_t address, uint64_t place);
    // The array that is closest to an address of this thread's local storage, or null.
    const SharedArray* nearest(uintptr_t address) const;

    // The array that this address would hit on a GPU, where addresses of shared memory have 32 bits, or null. Here it
    // hits none.
    const SharedArray* wrapped(uintptr_t address) const;

    // A block must not profit from what an earlier one left here.
    void poison();

    void* dynamic() const { return room_ ? static_cast<char*>(room_) + in_front : nullptr; }
    uint64_t dynamic_bytes() const { return dynamic_bytes_; }
    // True if the address was meant for dynamic shared memory, also in front of it or behind its end.
    bool near_dynamic(uintptr_t address) const { return address - uintptr_t(room_) < room_bytes_; }
    uint64_t static_bytes() const { return static_bytes_; }  // of the arrays that were found

private:
    void add_arrays_of(const Symbol& kernel);
    SharedArray& add_called(const Declared& array, uintptr_t begin);
    SharedArray& add(const Declared& array, uintptr_t begin, uint64_t offset);
    SharedArray& add(uintptr_t begin, uint64_t bytes, const std::string& name, uint64_t offset, Elements elements = {});

    const void* kernel_ = nullptr;
    uintptr_t base_ = 0;  // where the host thread's variables begin
    std::vector<std::pair<uintptr_t, const Declared*>> all_;  // arrays of all kernels on this host thread, by address
    std::vector<std::unique_ptr<SharedArray>> arrays_;
    size_t recent_ = 0;  // the array found last
    uint64_t static_bytes_ = 0, cells_ = 0;
    uint64_t end_ = 0;  // of the kernel's own arrays
    uint64_t dynamic_bytes_ = 0;
    static constexpr uint64_t in_front = 4096;  // of dynamic shared memory, nothing else lies
    void* room_ = nullptr;
    uint64_t room_bytes_ = 0;
};

}  // namespace sim
