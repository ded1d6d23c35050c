// NVIDIA's driver, as the operating system knows it.

#pragma once

#include <string>

namespace harness {

// Its version; empty if there is no driver, or if it gives no version.
std::string nvidia_driver();

}  // namespace harness
