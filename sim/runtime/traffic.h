// The traffic from one device to another: stores and loads of kernels, and messages.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "../core/sinks/windows.h"
#include "../core/devices.h"

namespace sim {

// Adds the traffic of a launch on `device`, whose first window is `first`.
void note_peers(int device, uint64_t first, const std::map<uint64_t, Peers>& windows);
// Adds a copy between two devices, or a message.
void note_message(int from, int to, uint64_t bytes, uint64_t window);

// The whole program's traffic between devices, as text for its reader. Empty: none.
std::string traffic_text();

}  // namespace sim
