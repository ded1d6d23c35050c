// The table of who may touch what: ranges of addresses. An address lies on a thread's stack, in memory of the device,
// or in what a kernel may read besides: its arguments, the constants of the program, threadIdx and the like.

#pragma once

#include <cstdint>
#include <vector>

#include "../lanes/fibers.h"
#include "../lanes/launching.h"
#include "../memory/shared_memory.h"

namespace sim {

struct Reached {
    enum Where { stack, device, readable, writable, nowhere } where;  // readable, writable: and not watched
    Array* array = nullptr;  // of the device: an allocation, freed ones included, or shared memory
};

class Reach {
public:
    Reach(const Fibers& fibers, SharedMemory& shared) : fibers_(fibers), shared_(shared) {}
    void start(const Launching& launching);  // a launch
    // `place`: of an access of so many bytes.
    Reached find(uintptr_t address, unsigned bytes, uint64_t place);
    // The array or allocation that holds the address, or null.
    Array* array_at(uintptr_t address, uint64_t place);
    bool on_stack(uintptr_t address) const { return fibers_.hold(address); }

private:
    const Fibers& fibers_;
    SharedMemory& shared_;
    std::vector<Range> readable_;  // that threads of this launch may load from
};

}  // namespace sim
