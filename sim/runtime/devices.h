// The limits and devices that programs ask about. The counts do not depend on them.

#pragma once

#include <cstdint>

#include "../../common/base/machine.h"
#include "../cuda/driver_types.h"

namespace sim {

// Limits of a compute capability: CUDA C Programming Guide, "Technical Specifications per Compute Capability".
struct Limits {
    unsigned threads_per_block;
    unsigned block[3], grid[3];
    uint64_t shared_per_block, shared_per_block_optin, reserved_shared_per_block;
    int registers_per_block;
};
Limits limits_of(const harness::Machine& machine);
// A program may pass any number as an enumeration. True if the enumeration has it.
bool known_preference(cudaFuncCache preferred);
bool known_banks(cudaSharedMemConfig banks);

// How many there are. Once a program has asked, the number stays.
int device_count();
// Each host thread has its own.
int current_device();
void set_current_device(int device);
// Whose memory its kernels may access, by cudaDeviceEnablePeerAccess: bit d for device d.
uint32_t peers_of(int device);

// Another device's number for the time of a call.
class OnDevice {
public:
    explicit OnDevice(int device) : before_(current_device()) { set_current_device(device); }
    ~OnDevice() { set_current_device(before_); }

private:
    int before_;
};

}  // namespace sim
