// What goes from one device to another: by stores and loads of kernels, and by messages.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "../core/counter.h"
#include "../core/devices.h"

namespace sim {

// A launch on `device`, whose first window is `first`.
void note_peers(int device, uint64_t first, const std::map<uint64_t, Peers>& windows);
// A copy between two devices, or what one sends to another.
void note_message(int from, int to, uint64_t bytes, uint64_t window);

// What went between the devices in the whole program, for its reader. Empty: nothing.
std::string traffic_text();

}  // namespace sim
