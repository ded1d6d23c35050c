// Counts the cost of a launch on its machine: per access site, and per memory
// partition in windows of blocks that would run at the same time.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../common/base/counts.h"
#include "../../common/base/machine.h"
#include "devices.h"
#include "l1.h"
#include "splitter.h"
#include "rules.h"
#include "touched.h"

namespace sim {

// The request whose bank conflicts cost most. Among equal ones it is the first in the order of launches and blocks, so
// it does not depend on the number of host threads.
struct WorstConflict {
    int units = 0;       // 0: no conflicts
    uint64_t block = 0;  // numbered over all launches
    Conflict conflict;   // its words count from where the block's shared memory begins
    void add(const WorstConflict& other);
};

// The cost of all requests made at one site.
struct SiteCounts : harness::AccessCounts {
    Site site = 0;
    Space space = global;
    WorstConflict worst_conflict;
    std::vector<harness::DrawnRequest> drawn;

    bool same_access(const SiteCounts& other) const { return site == other.site && space == other.space; }
    void add(const SiteCounts& other);
};

// The traffic of a launch between its device and another.
struct PeerCounts {
    uint64_t stores = 0, loads = 0;                // requests
    uint64_t stored = 0, loaded = 0;               // bytes of their transactions
    uint64_t asked_stored = 0, asked_loaded = 0;

    void add(const PeerCounts& other);
    bool empty() const { return stores + loads == 0; }
};
using Peers = std::array<PeerCounts, most_devices>;

// The bytes that devices receive. In each window of blocks that run together, the busiest device delays the others.
class Receivers {
public:
    void add_window(const std::array<uint64_t, most_devices>& into);
    double busiest_over_mean(int devices) const;  // 0: nobody receives anything

private:
    uint64_t busiest_ = 0, sum_ = 0;
};

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

// The traffic of the windows that are not finished; all host threads add to it.
class Windows {
public:
    void start(const harness::Machine& machine, uint64_t blocks_per_window, uint64_t blocks);
    uint64_t window_of(uint64_t block) const { return block / per_window_; }
    // Adds a part of a window: `blocks` of its blocks, their bytes by partition.
    void add(uint64_t window, uint64_t blocks, const std::vector<uint64_t>& read, const std::vector<uint64_t>& write,
             const Pages& pages, Touched& touched);
    PartitionCounts take_totals() { return std::exchange(totals_, {}); }  // since they were last taken
    // Adds the traffic of a window between this device and the others.
    void add_peers(uint64_t window, const Peers& peers);
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

// A host thread's share of the counting.
class Counter : public Sink {
public:
    // `earlier_blocks`: the number of blocks of all earlier launches.
    void start(const Rules& rules, const harness::Machine& machine, Windows& windows, uint64_t earlier_blocks);
    // The next requests are this block's. `l1_share`: bytes of the L1 that it has.
    void block(uint64_t block, uint64_t l1_share, unsigned warps);
    void take(const PartOfRequest& part) override;
    // The cost of the part that was taken last: transactions, lines, sectors, words or wavefronts.
    int units() const { return units_; }
    SiteCounts& site() { return sites_[next_ - 1]; }  // of this part
    int partition(uint64_t gpu_address) const { return map_->partitions ? int(partition_of(gpu_address)) : -1; }
    void finish();  // hands the rest of the traffic to Windows

    std::vector<SiteCounts>& sites() { return sites_; }
    void barrier()  // of the block
    {
        ++phase_;
        phase_begin_ = phase_end_;
    }
    void warp_begins();  // the next requests are those of a warp after a barrier, or since the block began
    // nvcc joins the atomic operations that a warp makes at this place: one lane makes one operation for all.
    void note_joined(Site place) { joined_.insert(uint32_t(place)); }
    harness::RooflineCounts roofline;
    uint64_t output_stored = 0;  // bytes, to memory whose contents are to be verified
    bool unordered_possible = false;  // global memory was used in a way that may be a race

private:
    // `offset`: the distance from an address on the host to the one on the GPU, or in the block's shared memory.
    // Returns the request's cost.
    int count(const Request& request, Space space, uint64_t offset);
    // A request to the memory of another device: its partitions and caches are not looked at.
    int count_peer(const Request& request, int device);
    int count_constant(const Request& request);  // __constant__ memory
    int count_local(const Request& request);
    void look_at_output(const Request& request, const Allocation& memory);
    SiteCounts& at(const Request& request, Space space);
    SiteCounts& note(const Request& request, Space space);
    uint64_t count_transactions(SiteCounts& here, const Request& request);
    void note_conflict(SiteCounts& site, const Request& request, int units, uint64_t offset);
    void hand_over();
    void write_page(uint64_t address, unsigned bytes);
    void note_batch(const Request& request);
    void load_through_l1(uint64_t offset);
    void store_to_lines(uint64_t offset, uint64_t asked);

    const Rules* rules_ = nullptr;
    const harness::PartitionMap* map_ = nullptr;
    Windows* windows_ = nullptr;
    std::vector<SiteCounts> sites_;
    std::set<uint32_t> joined_;
    int units_ = 0;
    size_t next_ = 0;  // sites come round in the same order
    Transactions transactions_;
    uint64_t window_ = 0, blocks_ = 0;
    uint64_t earlier_blocks_ = 0, block_ = 0;  // block_: numbered over all launches
    std::vector<uint64_t> read_, write_;
    Peers peers_;
    bool any_peers_ = false;  // in this window
    unsigned page_bytes_ = 0;  // 0: pages are not looked at
    Pages pages_;
    const harness::Roofline* roofline_ = nullptr;  // null: the machine has none
    Touched touched_;
    L1 l1_;
    bool in_flight_ = false;  // the warp's last request was a load, so the batch of loads goes on
    bool missed_ = false;     // a load of this batch waits for the memory
    uint64_t phase_ = 0, batch_ = 0;  // phase_: of the block; batch_: of the warp in this phase
    uint64_t phase_begin_ = 0, phase_end_ = 0, time_ = 0;  // in requests of a warp since the block began
    // Hashed maps are linear: the parities of an address are those of its bytes, combined. One row
    // per byte of the address, filled when the map changes.
    unsigned partition_of(uint64_t address) const;
    uint8_t hashed_[5][256];
    const harness::PartitionMap* hashed_for_ = nullptr;
    // The last address looked up in the map, in grains, and its partition: the next is often the same.
    int grain_shift_ = 0;
    uint64_t grain_ = ~0ull;
    unsigned partition_ = 0;
};

}  // namespace sim
