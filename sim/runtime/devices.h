// The limits and devices that programs ask about. The counts do not depend on them.

#pragma once

#include <cstdint>

#include "../cuda/driver_types.h"

namespace sim {

// A program may pass any number as an enumeration. True if the enumeration has it.
bool known_preference(cudaFuncCache preferred);
bool known_banks(cudaSharedMemConfig banks);

// The number of devices. Once a program has asked, it stays.
int device_count();
bool known_device(int device);
// Each host thread has a current device of its own.
int current_device();
void set_current_device(int device);
// The devices whose memory this one's kernels may access, by cudaDeviceEnablePeerAccess: bit d for device d.
uint32_t peers_of(int device);
void disable_peers(int device);

// Makes another device the current one for the time of a call.
class OnDevice {
public:
    explicit OnDevice(int device) : before_(current_device()) { set_current_device(device); }
    ~OnDevice() { set_current_device(before_); }

private:
    int before_;
};

}  // namespace sim
