// What the simulator counted between GPUs, for a reader.

#pragma once

#include <string>

#include "../sim/core/devices.h"
#include "links.h"

// Over all pairs of GPUs.
template <size_t N>
unsigned long long total(const unsigned long long (&table)[N][N])
{
    unsigned long long sum = 0;
    for (const auto& row : table)
        for (unsigned long long value : row) sum += value;
    return sum;
}

// To whom each GPU's data goes, from the first blocks to the last: a line for each GPU, a character for each window. * if no
// GPU gets more than half of it.
std::string receivers(const sim::Traffic& traffic);

// The model: in each window, the link that carries most holds up the others. Each message waits for its latency.
double model_ms(const sim::Traffic& traffic, const Link& link);
