// The GPUs the simulator can stand for, as data: common/machines has a file for each, which is built into the programs,
// and a user's file is another one. machine_file.h reads them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harness {

// How addresses are dealt out over memory partitions.
struct PartitionMap {
    int partitions = 0;        // 0: nothing known, nothing counted
    unsigned granularity = 0;  // plain map: partition = address / granularity mod partitions
    // Hashed map: bit b of the partition is the parity of address & hash[b]. Empty: plain.
    std::vector<uint64_t> hash;
    // The machine whose published map stands in for this one's, which is not known: an assumption, to be labelled as
    // one. Empty: the map is this machine's own.
    std::string like;

    bool assumed() const { return !like.empty(); }

    // Neighbouring bytes that surely share a partition, a power of two.
    uint64_t grain() const
    {
        uint64_t bits = granularity;
        for (uint64_t mask : hash) bits |= mask;
        return bits & -bits;
    }

    // Bytes of one round: the shortest range of addresses, from a multiple of its length on, that reaches every
    // partition equally often. With less traffic than this, some partitions get more than others whatever the order is.
    uint64_t round_bytes() const;

    unsigned partition_of(uint64_t address) const
    {
        if (hash.empty()) return unsigned(address / granularity % partitions);
        unsigned p = 0;
        for (size_t b = 0; b < hash.size(); ++b) p |= unsigned(__builtin_parityll(address & hash[b])) << b;
        return p % partitions;
    }
};

// The time that a memory partition takes for each operation, in ns; all zero: no model of this machine.
//
// Memory moves in bursts of 32 bytes, a partition one at a time. A burst written to a DRAM page of
// which less than half is written while the same blocks run is scattered: the page is opened and
// closed around a few bytes, and closing it has to wait until the write has settled. A block's
// barrier leaves its multiprocessor waiting for memory, once for all blocks that run together.
struct MemoryModel {
    double burst_ns = 0;      // one burst of 32 bytes
    double scattered_ns = 0;  // more, for a scattered one
    double barrier_ns = 0;    // one barrier of all blocks that run together
    unsigned page_bytes = 0;  // of a partition's DRAM page
};

// Constants of a model of times: latencies, and the limit of each resource. All zero: no such model. Measured by
// bench/microbench.cu, which has no transpose in it. constants.h has the key of each, its unit, and how it follows from
// the measurements.
struct Roofline {
    // ns that a block waits when it is alone on its SM.
    double launch_ns = 0;         // a launch of one block, which does nothing
    double block_ns = 0;          // a block of 32 threads starts and ends
    double thread_ns = 0;         // more for each further thread
    double load_ns = 0;           // a load from DRAM
    double loads_in_flight_per_s = 0; // loads of a warp, when no thread has more than one on its way
    double hit_ns = 0;            // a load from the L1
    double store_ns = 0;          // a store, with its address
    double barrier_ns = 0;        // a barrier of 32 threads
    double barrier_thread_ns = 0; // more for each further thread
    // Upper limits of the whole machine.
    double blocks_per_s = 0;      // started
    double stream_gbs = 0;        // DRAM, reads and writes in order
    double scatter_gbs = 0;       // the same, every 128 bytes stored about 64 KB from the last
    // The following are shares of the time that a line of 128 bytes takes in order.
    double half_load = 0;         // a load of 64 bytes or less, anywhere in the memory
    double half_store = 0;        // a store of 64 bytes
    double unfilled_store = 0;    // a store of 4 bytes
    double partial_lines_per_s = 0;   // in the L2: lines of 128 bytes that stores touch and do not fill
    double l1_turns_per_s = 0;    // sectors that loads read from the same place of their lines
    double l1_lines_per_s = 0;    // lines that miss the L1 and hit the L2
    double wavefronts_per_s = 0;  // of shared memory
    double constant_words_per_s = 0;  // of __constant__ memory, different ones of a warp
};

// How many blocks of a kernel run on one SM at the same time, and what limits them. Registers are not modelled: the
// compiler chooses how many a thread has.
struct Occupancy {
    uint64_t blocks = 0;                             // at least one
    uint64_t by_blocks, by_threads, by_shared;       // what each limit allows; by_shared: ~0 without shared memory
    uint64_t threads = 0, threads_per_sm = 0, sms = 0;  // threads: of a block, in whole warps
    uint64_t shared_bytes = 0, shared_per_sm = 0;    // shared_bytes: what a block takes
    uint64_t registers = 0;                          // a thread may have so many before they are the limit

    const char* limit() const;
    double percent() const { return 100.0 * double(blocks * threads) / double(threads_per_sm); }  // of an SM's threads
};

// Limits that follow from the compute capability: a row of common/machines/capabilities.csv, which has their sources.
struct Capability {
    int major = 0, minor = 0;
    unsigned threads_per_block = 0, block[3] = {}, grid[3] = {};
    int blocks_per_sm = 0, threads_per_sm = 0, registers_per_sm = 0, registers_per_block = 0;
    uint64_t shared_per_sm = 0, shared_per_block = 0, shared_per_block_optin = 0;  // bytes
    uint64_t reserved_shared = 0;  // bytes that a block takes beside its own
    uint64_t shared_unit = 0;      // a block takes a multiple of so many bytes
    uint64_t l1_bytes = 0;         // of an SM; with its shared memory, where that is a part of it
    unsigned load_bytes = 0, store_bytes = 0;  // the piece of memory that a load or a store moves
    unsigned banks = 0, bank_bytes = 0;
    bool lockstep = false;         // a warp has one program counter
    int copy_engines = 0;
    int double_ratio = 0;          // operations on float for each on double; 0: no doubles
};

struct Machine : Capability {
    std::string name;     // for --machine
    std::string label;    // for people
    int sms = 0;
    int sm_mhz = 0;       // the highest clock of the multiprocessors
    uint64_t dram_bytes = 0;
    int dram_mhz = 0, bus_bits = 0;
    uint64_t l2_bytes = 0;  // 0: none
    PartitionMap map;
    std::string source;     // of the map
    MemoryModel model;
    Roofline roofline;
    std::string measured, driver, card;  // when the constants of the roofline were measured, and on what
    // The latency of a load from DRAM, in clocks of the SM; 0: not known.
    int latency_clocks = 0;
    std::string latency_source;

    // 10^9 bytes/s: two transfers per clock, each as wide as the bus (double data rate).
    double dram_peak_gbs() const { return 2e-3 * dram_mhz * bus_bits / 8; }

    // ns from a load to its bytes; 0: not known. Where the roofline was measured: with one load of every thread of the
    // machine on its way.
    double latency_ns() const;

    // Blocks of so many threads and bytes of shared memory, per SM.
    Occupancy occupancy(int threads, uint64_t shared_bytes) const;
    uint64_t resident_blocks(int threads, uint64_t shared_bytes) const
    {
        return uint64_t(sms) * occupancy(threads, shared_bytes).blocks;
    }
};

// The built-in machines.
const std::vector<Machine>& machines();

// The row of a capability or, if it has none, that of the last one before it with the same major number. Throws bad
// input.
Capability capability(int major, int minor);

// The value of --machine: the name of a built-in machine, or a file, which has a / in its name or ends in .machine. A
// file is read once. Throws bad input, with the names there are.
const Machine& machine_named(const std::string& name_or_file);

// The --list-machines text: the built-in machines and, if it is another one, the chosen one.
std::string list_machines(const Machine& chosen);

// The same list as CSV, with the limits of an SM and the map, too. A hash is written as its masks in hexadecimal,
// beginning with that of bit 0.
std::string machines_csv(const Machine& chosen);

}  // namespace harness
