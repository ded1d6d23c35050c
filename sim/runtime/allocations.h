// The record of what the program has allocated, for the functions that allocate, free and ask.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/devices.h"
#include "address_range.h"
#include "runtime.h"

namespace sim {

constexpr uint64_t managed_address = uint64_t(1) << 40;  // on the GPU, of the first byte that the host may touch, too

struct Allocated {
    Allocated();
    void protect(int protection) const;  // what the host may not touch
    std::vector<AddressRange> devices;
    AddressRange shared;                 // memory that devices share with the host
    uint64_t in_use[most_devices] = {};  // bytes of each device's
    uint64_t allocations = 0;            // ever
    int open = 0;                        // calls of open_device_memory that are not closed yet
};
Allocated& allocated();

// Adds new memory, which kernels may then touch. `function`: the one that the program called at `place`. `device`: -1
// for the host's.
void add_allocation(Owner owner, int device, const char* function, uintptr_t begin, uint64_t bytes,
                    uint64_t gpu_address, unsigned flags, const void* place);
// Marks an allocation as freed. Its pages are given back, and its addresses are kept. `where`: "at program.cu:40".
void mark_freed(Allocation& allocation, const std::string& where);

// The name of an allocation, for a reader: "d_a (cudaMalloc at program.cu:31)".
std::string allocation_name(const char* function, int device, const void* place);

// Bytes that an allocation may still take: by the memory of the simulated device, and by that of the host.
uint64_t free_device_memory(int device);
uint64_t free_host_memory(int device);
inline uint64_t free_memory(int device) { return std::min(free_device_memory(device), free_host_memory(device)); }

}  // namespace sim
