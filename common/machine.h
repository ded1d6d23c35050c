// The GPUs the simulator can stand for, as data.

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
    bool assumed = false;  // not published: an assumption, to be labelled as one

    // Neighbouring bytes that surely share a partition, a power of two.
    uint64_t grain() const
    {
        uint64_t bits = granularity;
        for (uint64_t mask : hash) bits |= mask;
        return bits & -bits;
    }

    unsigned partition_of(uint64_t address) const
    {
        if (hash.empty()) return unsigned(address / granularity % partitions);
        unsigned p = 0;
        for (size_t b = 0; b < hash.size(); ++b) p |= unsigned(__builtin_parityll(address & hash[b])) << b;
        return p % partitions;
    }
};

// What a memory partition takes for what it does, in ns; all zero: no model of this machine.
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

// What a whole machine can do at most, one resource at a time; all zero: no such model. Measured
// by plots/microbench.cu, which has no transpose in it.
struct Roofline {
    double stream_gbs = 0;            // DRAM, reads and writes in order
    double scatter_gbs = 0;           // the same, every 128 bytes stored about 64 KB from the last
    double loads_in_flight_per_s = 0; // loads of a warp, when no thread has more than one on its way
    double lines_per_s = 0;           // lines of 128 bytes that stores touch, in the L2
    double loaded_lines_per_s = 0;    // lines of 128 bytes that loads touch, in the L1
    double wavefronts_per_s = 0;      // of shared memory
    unsigned page_bytes = 0;          // a store is scattered where less than half of such a page is written meanwhile
};

struct Machine {
    std::string name;   // for --machine
    std::string label;  // for people
    int major, minor;   // compute capability
    int sms;
    double dram_peak_gbs;
    uint64_t l2_bytes;  // 0: none
    int blocks_per_sm, threads_per_sm;
    uint64_t shared_per_sm;  // bytes
    PartitionMap map;
    std::string source;  // of the figures
    MemoryModel model = {};
    Roofline roofline = {};

    // Blocks of so many threads and bytes of shared memory that run at the same time on the
    // whole machine, as far as these limits go (registers are not modelled). At least one per SM.
    uint64_t resident_blocks(int threads, uint64_t shared_bytes) const;
};

const std::vector<Machine>& machines();

// Throws bad input, with the names there are.
const Machine& machine_named(const std::string& name);

// The machine with this label. Throws bad input.
const Machine& machine_labelled(const std::string& label);

// The --list-machines text.
std::string list_machines();

}  // namespace harness
