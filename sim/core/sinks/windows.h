// The traffic of windows: of blocks that would run at the same time on the GPU.
//
// A host thread adds to its share of a window until it gets a block of another one. Then the share is handed over to
// Windows, which all host threads share. A window is complete when all of its blocks have been handed over. Its busiest
// partition, which delays the others, is known only then.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../../common/base/counts.h"
#include "../../../common/base/machine.h"
#include "../devices.h"
#include "touched.h"

namespace sim {

// The traffic of a launch between its device and another.
struct PeerCounts {
    uint64_t stores = 0, loads = 0;                // requests
    uint64_t stored = 0, loaded = 0;               // bytes of their transactions
    uint64_t asked_stored = 0, asked_loaded = 0;

    void add(const PeerCounts& other);
    bool empty() const { return stores + loads == 0; }
};
using Peers = std::array<PeerCounts, most_devices>;

// Bytes by memory partition, summed over windows. The busiest partition of each window holds the
// others up.
struct PartitionCounts {
    uint64_t busiest_read = 0, busiest_write = 0;
    double mean_read = 0, mean_write = 0;
    // Input of the model: bursts of the partition that takes longest, and how many of them are scattered.
    uint64_t bursts = 0, scattered = 0;
    harness::DramCounts dram;  // of all partitions

    void add(const PartitionCounts& more);
};

// A window's stores to one DRAM page of one partition.
struct Page {
    uint64_t chunks = 0;  // bit i: the i-th 64th of the page is written to
    uint64_t bursts = 0;
};
using Pages = std::unordered_map<uint64_t, Page>;  // by page number times partitions plus partition

// A host thread's share of the window that is open.
struct WindowShare {
    uint64_t blocks = 0;
    std::vector<uint64_t> read, write;  // bytes by partition
    Pages pages;
    Touched touched;
    Peers peers;
    bool any_peers = false;

    void clear();
};

class Windows {
public:
    void start(const harness::Machine& machine, uint64_t blocks_per_window, uint64_t blocks);
    uint64_t window_of(uint64_t block) const { return block / per_window_; }
    void add(uint64_t window, WindowShare& share);
    PartitionCounts take_totals() { return std::exchange(totals_, {}); }  // since they were last taken
    std::map<uint64_t, Peers> take_peers() { return std::exchange(peers_, {}); }  // by window of the last launch

private:
    struct Open {
        uint64_t blocks = 0;
        std::vector<uint64_t> read, write;
        Pages pages;
        TouchedPages touched;
    };
    void close(const Open& window);

    std::mutex mutex_;
    const harness::Machine* machine_ = nullptr;
    uint64_t per_window_ = 1, blocks_ = 0;
    std::map<uint64_t, Open> open_;
    PartitionCounts totals_;
    std::map<uint64_t, Peers> peers_;
};

}  // namespace sim
