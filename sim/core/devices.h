// Several GPUs on the simulator, for a program that knows about it: how many there are, and what went between them.
//
// The functions are weak: on a GPU they are null, and the program asks before it calls them.
//     if (sim_use_devices) sim_use_devices(4);

#pragma once

namespace sim {

constexpr int most_devices = 16;
constexpr int most_pictured = 64;

// The traffic between devices since the last call of sim_take_traffic(). In all tables, the first index is the device
// that owned the data before, and the second the one that received it. A store goes from the kernel's device to the
// owner of the memory, a load from the owner to the kernel's device. An atomic operation counts as a store.
struct Traffic {
    int gpus;
    // Traffic by stores and loads of kernels.
    unsigned long long bytes[most_devices][most_devices];   // in sectors of 32 bytes, as they travel
    unsigned long long asked[most_devices][most_devices];   // that the lanes asked for
    unsigned long long stores[most_devices][most_devices];  // requests of warps
    unsigned long long loads[most_devices][most_devices];
    // Traffic by cudaMemcpy* between devices, and by ncclSend.
    unsigned long long messages[most_devices][most_devices];
    unsigned long long message_bytes[most_devices][most_devices];
    // Time is counted in windows. A window of a launch is as many blocks as run at a time; a copy takes one window, and
    // so do all messages of one ncclGroupEnd. What follows in a stream, or waits for an event or for the host, comes in
    // later windows. Everything else runs side by side.
    unsigned long long windows;  // from the first to the last in which something was sent
    // Bytes into the busiest device of each window, over the mean of all devices. 1: all receive equally much; `gpus`:
    // one receives everything; 0: nothing was sent.
    double busiest_receiver;
    // Bytes in each window, stores, loads and messages together. Above most_pictured windows, neighbours are added up.
    int pictured;                          // number of entries
    unsigned long long windows_per_entry;  // 1, 2, 4, ...: how many windows each of them stands for
    unsigned long long picture[most_pictured][most_devices][most_devices];
};

}  // namespace sim

extern "C" {

// Sets the number of devices, 1 to 16, whatever SIM_OPTIONS says. Call it before the first call of the CUDA runtime.
void sim_use_devices(int count) __attribute__((weak));

// Leaves all but the findings out of the report at the end, which is empty if there are none.
void sim_quiet_report() __attribute__((weak));

// Returns the traffic since the last call, in the same memory at every call. Launched work counts as if the host had
// waited for it.
const sim::Traffic* sim_take_traffic() __attribute__((weak));
}
