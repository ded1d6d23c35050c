#pragma once

#include <cstdint>

#include "../lanes/access.h"

namespace sim {

// A piece of memory that one request moves as a whole: an aligned segment, line or sector.
struct Transaction {
    uint64_t address;
    unsigned bytes;
};

// The transactions of one request; a request has at most two per lane.
struct Transactions {
    int count = 0;
    uint64_t bytes = 0;
    Transaction list[2 * warp_size];
    void add(uint64_t address, unsigned size)
    {
        list[count++] = {address, size};
        bytes += size;
    }
};

}  // namespace sim
