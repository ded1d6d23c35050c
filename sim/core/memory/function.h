// How a function of the simulator that a kernel calls is declared. The kernel's own accesses are watched, and those of
// such a function are not.

#pragma once

// It stays a call, so that SIM_PLACE lies in the kernel: there it stands for the place in the source.
#define SIM_FUNCTION __attribute__((noinline, no_sanitize("thread", "kernel-address")))
#define SIM_PLACE __builtin_return_address(0)
