// Links between GPUs, and what goes over them when a matrix is transposed that is spread over several.
//
// The model: in each period of time, the GPU whose link has to carry most, in or out, holds the others up. A message
// also takes the link's latency.

#pragma once

#include <string>

#include "base/counts.h"
#include "base/error.h"

namespace harness {

// A link with the figures that its maker publishes.
struct Link {
    const char* name;
    double gbs;         // of each GPU, in each direction, 10^9 bytes/s
    double latency_us;  // of a message; an assumption: no maker publishes it
    const char* source;
};

constexpr Link links[] = {
    {"nvlink2", 150, 2, "V100: six links of 25 GB/s in each direction (NVIDIA V100 data sheet)"},
    {"nvlink3", 300, 2, "A100: twelve links of 25 GB/s in each direction (NVIDIA A100 data sheet)"},
    {"nvlink4", 450, 2, "H100 and H200: eighteen links of 25 GB/s in each direction (NVIDIA H100 data sheet)"},
    {"pcie4", 31.5, 3, "16 lanes of 16 GT/s, 128 of 130 bits (PCI Express 4.0)"},
    {"pcie5", 63, 3, "16 lanes of 32 GT/s, 128 of 130 bits (PCI Express 5.0)"},
    {"ndr", 50, 5, "InfiniBand NDR: 400 Gbit/s (NVIDIA ConnectX-7 data sheet)"},
};

// Throws status_bad_input for a name that is none of them.
const Link& link_named(const std::string& name);

// The model's time for what GPUs sent each other.
double crossing_ms(const BetweenGpus& between, const Link& link);

// The most bytes that one GPU has for others, of a matrix that is spread over so many: what its link must carry out.
double crossing_bytes(int width, int height, int gpus, uint64_t element_bytes);

// To whom each GPU's data goes, from the first blocks to the last: a line for each GPU, a character for each period.
// * if no GPU gets more than half of it.
std::string receivers_text(const BetweenGpus& between);

}  // namespace harness
