// Counts of a kernel's accesses: the record that the simulator makes and that reports, tables and models read.
//
// Interface: AccessCounts, numbers of any set of requests; AccessSite, those of one line of the source; Launched, how
// much was launched; LaunchCounts, all of it, with sums over sites.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "finding.h"
#include "machine.h"

namespace harness {

enum Space { global, shared, peer, local, constant };  // peer: global memory of another device

// The size and the cost of a set of requests, counted exactly for one machine.
struct AccessCounts {
    uint64_t requests = 0;
    uint64_t accesses = 0;  // of single threads
    uint64_t units = 0;     // global, local: transactions, lines or sectors; shared: wavefronts; constant: words
    uint64_t ideal = 0;     // the fewest units there could be
    uint64_t bytes = 0;     // global, local: what the units carry
    uint64_t asked = 0;     // global, local: what was asked for, each element of a request once
    int worst = 0;          // units of the most expensive request
    int64_t stride = 0;     // bytes from one lane of a request to the next; 0: no request has two neighbouring lanes

    void add(const AccessCounts& more);
};

// The sums of AccessCounts, as columns of CSV files and members of JSON name them. A new counter is a member and a row
// here, and the code that counts it (sim/core/sinks/counter.cpp).
struct AccessSum {
    using Sum = uint64_t AccessCounts::*;
    const char* name;
    Sum sum;
    // The results of a step have the sum over the loads and that over the stores in columns of their own, such as
    // global_load_requests. Null: they have none.
    const char* of_global = nullptr;
    const char* of_shared = nullptr;
};
inline constexpr AccessSum access_sums[] = {
    {"requests", &AccessCounts::requests, "requests", "requests"},
    {"accesses", &AccessCounts::accesses},
    {"units", &AccessCounts::units, "transactions", "wavefronts"},
    {"ideal_units", &AccessCounts::ideal},
    {"bytes_moved", &AccessCounts::bytes},
    {"bytes_asked", &AccessCounts::asked},
};

// One request, for a page that draws it. Of the requests of a place that cost the same, the first is kept.
struct DrawnRequest {
    int units = 0;
    uint64_t times = 0;         // requests of this place that cost as much
    uint64_t number = 0;        // of its block, over all launches
    Index block{};
    int warp = 0;
    std::string memory;         // the array that the first lane accesses; empty: local memory
    uint64_t begin = 0;         // where this array begins on the GPU, or in the block's shared memory
    std::array<std::optional<int64_t>, 32> offset;  // of each lane, from there; none: it takes no part
};

// The first, the most expensive and the most frequent of several: the place of each in the list.
struct Chosen {
    size_t first = 0, worst = 0, typical = 0;
};
Chosen choose(const std::vector<DrawnRequest>& requests);

// The requests that warps make at one place of a kernel.
struct AccessSite : AccessCounts {
    std::string file;  // empty if the program has no debug information
    std::string path;  // of the file, from the root
    int line = 0;
    uint64_t address = 0;  // of the machine code, where the line is not known
    std::string text;  // of the line, if its file can be read
    bool store = false, atomic = false;  // neither: a load
    Space memory = global;
    uint64_t element_bytes = 0;  // that one thread accesses
    const char* unit = "";
    // Shared: two lanes of the most expensive request that meet in a bank; empty: none do. The wavefronts of the
    // request, and its block: of equal requests, the first is kept. Local: two threads that have different indices.
    std::string conflict;
    int conflict_units = 0;
    uint64_t conflict_block = 0;
    std::vector<DrawnRequest> drawn;  // one for each cost; empty unless they were asked for

    // True if a reader takes both for one access: the same line, kind, memory and size.
    bool same_access(const AccessSite& other) const;
    void add(const AccessSite& more);
    // An atomic operation is a store in every sum, because it changes memory.
    bool stores() const { return store || atomic; }
    // The memory of another device is global, too.
    bool in(Space space) const { return memory == space || (memory == peer && space == global); }
};

// Adds the counts of one more site to those of the same access, if there are any.
template <typename Site> void add_site(std::vector<Site>& sites, const Site& more)
{
    const auto known =
        std::find_if(sites.begin(), sites.end(), [&](const Site& site) { return site.same_access(more); });
    if (known == sites.end()) sites.push_back(more);
    else known->add(more);
}

// Adds requests of the same place to those that are kept.
void add_drawn(std::vector<DrawnRequest>& kept, const std::vector<DrawnRequest>& more);

// How much was launched.
struct Launched {
    uint64_t launches = 0, blocks = 0, warps = 0;
    uint64_t barriers = 0;  // of warps: a barrier of a block of eight warps counts eight

    void add(const Launched& more);
};

// The traffic between several GPUs.
struct BetweenGpus {
    int gpus = 0;
    uint64_t stores = 0, loads = 0;  // requests to the memory of other GPUs
    uint64_t messages = 0, message_bytes = 0;
    uint64_t most_messages = 0;   // that one GPU sends
    double busiest_receiver = 0;  // in windows of blocks that run together, over the mean; 0: nothing was sent
    // The bytes in each period of time, at [from * gpus + to].
    std::vector<std::vector<uint64_t>> picture;
};

// Work of the DRAM, in windows of blocks that run together. Data that a window loads again come from the L2.
struct DramCounts {
    uint64_t loaded_bytes = 0;      // of lines of which both halves are loaded
    uint64_t half_loads = 0;        // lines of which one half of 64 bytes is loaded, or a part of it
    uint64_t half_stores = 0, stored_in_halves = 0;  // the same for stores; the bytes stored there
    uint64_t scattered_bytes = 0;   // stored where little of a DRAM page is stored
    uint64_t unfilled_sectors = 0;  // stored in part

    void add(const DramCounts& more);
};

// Input of a roofline (model.cpp). Lines have 128 bytes, sectors 32.
struct RooflineCounts {
    // load_batches: loads of a warp with no store between them, if at least one waits for the memory because it misses
    // the L1, or finds a line that is on its way. hit_batches: loads that all hit.
    uint64_t load_batches = 0, hit_batches = 0;
    uint64_t l1_turns = 0;         // of the L1: sectors at the same place of their lines take turns
    uint64_t missed_lines = 0;     // that loads bring from the L2 into the L1
    uint64_t partial_lines = 0;    // that stores touch and do not fill
    uint64_t constant_words = 0;   // different words that each load from __constant__ memory asks for

    void add(const RooflineCounts& more);
};

// The simulator's counts of one pass, or of all launches of one kernel.
struct LaunchCounts {
    std::vector<AccessSite> sites;
    std::vector<Finding> findings;  // what the kernel must not do
    uint64_t findings_total = 0;        // how many of these faults there were
    int partitions = 0;                 // of the machine; 0 if unknown
    bool map_assumed = false;
    uint64_t partition_round = 0;  // bytes of one round over all partitions
    double busiest_read = 0, busiest_write = 0;  // partition over mean, in windows of resident blocks
    BetweenGpus between;
    uint64_t resident_blocks = 0;
    uint64_t shared_bytes = 0;  // of shared memory that a block declares, at most
    Launched launched;
    Occupancy occupancy;
    // Input of the machine's model; all zero where there is none.
    uint64_t model_bursts = 0, model_scattered = 0;  // of the partition that takes longest, over all windows
    double model_waves = 0;                          // barriers, of all resident blocks at once
    RooflineCounts roofline;
    DramCounts dram;

    // Sums over sites that load, or over those that store.
    uint64_t sum(AccessSum::Sum of, Space memory, bool store) const;
    uint64_t requests(Space memory, bool store) const { return sum(&AccessCounts::requests, memory, store); }
    uint64_t units(Space memory, bool store) const { return sum(&AccessCounts::units, memory, store); }
    // The traffic of the busiest partition over the mean. 0 if a launch moves too little to reach all partitions once:
    // some then get more than others in any order.
    double busiest(bool store) const;
    uint64_t accesses() const;
    uint64_t bytes_moved() const;
    uint64_t bytes_moved(bool store) const;  // of global memory
    uint64_t bytes_asked() const;    // of global memory
    uint64_t bytes_between_gpus() const;
    uint64_t bytes_asked_between_gpus() const;
    int worst_conflict() const;      // wavefronts of the most expensive shared request
};

}  // namespace harness
