#include "machine.h"

#include <algorithm>
#include <initializer_list>

#include "error.h"

namespace harness {
namespace {

uint64_t bits(std::initializer_list<int> positions)
{
    uint64_t mask = 0;
    for (int p : positions) mask |= uint64_t(1) << p;
    return mask;
}

PartitionMap plain(int partitions, unsigned granularity) { return {partitions, granularity, {}, false}; }

// Jain et al., "Fractional GPUs: Software-based Compute and Memory Bandwidth Reservation for
// GPUs", RTAS 2019: address bits whose parity gives each bit of the module, module bit 0 first.
PartitionMap gtx1080_map()
{
    return {8, 0,
            {bits({10, 12, 16, 20, 23, 26, 29, 30}), bits({11, 12, 13, 15, 17, 20, 21, 23, 25, 26, 30}),
             bits({12, 13, 18, 19, 22, 25, 26, 27, 30, 31})},
            false};
}

PartitionMap v100_map()
{
    return {32, 0,
            {bits({10, 13, 17, 19, 24, 25, 26, 29, 30, 32, 33}), bits({11, 13, 15, 23, 24, 26, 27, 29, 30, 31}),
             bits({12, 15, 16, 18, 20, 21, 23, 26, 28, 29, 30}), bits({13, 19, 20, 22, 25, 27, 28, 29}),
             bits({15, 18, 22, 23, 26, 29, 30, 31, 32, 33})},
            false};
}

// Addresses are known to be hashed, the map is not known: that of the V100, reduced to the
// machine's number of partitions, stands in for it.
PartitionMap assumed(int partitions, PartitionMap like)
{
    like.partitions = partitions;
    like.assumed = true;
    return like;
}

constexpr uint64_t kib = 1024, mib = 1024 * 1024;

}  // namespace

uint64_t Machine::resident_blocks(int threads, uint64_t shared_bytes) const
{
    if (major == 1) shared_bytes += 32;  // where grid and block sizes and the kernel's parameters lie
    uint64_t per_sm = std::min<uint64_t>(blocks_per_sm, threads_per_sm / std::max(threads, 1));
    if (shared_bytes) per_sm = std::min(per_sm, shared_per_sm / shared_bytes);
    return sms * std::max<uint64_t>(per_sm, 1);
}

const std::vector<Machine>& machines()
{
    // Limits per SM: CUDA C Programming Guide, table "Technical Specifications per Compute
    // Capability". Peaks, SMs and caches: the vendor's product sheets.
    static const std::vector<Machine> all = {
        {"gtx280", "GeForce GTX 280", 1, 3, 30, 141.7, 0, 8, 1024, 16 * kib, plain(8, 256), "whitepaper: 8 partitions of 256 bytes",
         // Fitted by plots/fit_gtx280.py on three rows of the whitepaper's table.
         {2.2536, 1.6287, 1254.9, 4096}},
        {"m2090", "Tesla M2090", 2, 0, 16, 177.6, 768 * kib, 8, 1536, 48 * kib, assumed(6, v100_map()), "map not published"},
        {"k20x", "Tesla K20X", 3, 5, 14, 250, 1536 * kib, 16, 2048, 48 * kib, assumed(6, v100_map()), "map not published"},
        {"k20c", "Tesla K20c", 3, 5, 13, 208, 1280 * kib, 16, 2048, 48 * kib, assumed(5, v100_map()), "map not published"},
        {"gtx1050ti", "GeForce GTX 1050 Ti", 6, 1, 6, 112.1, 1 * mib, 32, 2048, 96 * kib, assumed(4, gtx1080_map()), "map assumed like the GTX 1080's"},
        {"gtx1080", "GeForce GTX 1080", 6, 1, 20, 320, 2 * mib, 32, 2048, 96 * kib, gtx1080_map(), "map: Jain et al., RTAS 2019"},
        {"v100", "Tesla V100", 7, 0, 80, 900, 6 * mib, 32, 2048, 96 * kib, v100_map(), "map: Jain et al., RTAS 2019"},
        {"t4", "Tesla T4", 7, 5, 40, 320, 4 * mib, 16, 1024, 64 * kib, assumed(16, v100_map()), "map not published"},
        {"a100", "A100 40 GB", 8, 0, 108, 1555, 40 * mib, 32, 2048, 164 * kib, assumed(40, v100_map()), "map not published"},
        {"h100", "H100 SXM", 9, 0, 132, 3350, 50 * mib, 32, 2048, 228 * kib, assumed(80, v100_map()), "map not published"},
        {"h200", "H200", 9, 0, 132, 4800, 60 * mib, 32, 2048, 228 * kib, assumed(32, v100_map()), "partitions and map not published", {},
         // plots/data/h200_micro.csv
         {4098.25, 3399.29, 1.98543e10, 6.18396e10, 2.60247e11, 2.57478e11, 2048}},
    };
    return all;
}

const Machine& machine_named(const std::string& name)
{
    std::string known;
    for (const Machine& m : machines()) {
        if (m.name == name) return m;
        known += (known.empty() ? "" : ", ") + m.name;
    }
    throw Error{status_bad_input, "--machine " + name + ": expected one of " + known};
}

const Machine& machine_labelled(const std::string& label)
{
    for (const Machine& m : machines())
        if (m.label == label) return m;
    throw Error{status_bad_input, "no machine is called " + label};
}

std::string list_machines()
{
    std::string text = format("%-10s %-20s %4s %5s %10s %9s  %s\n", "name", "machine", "CC", "SMs", "peak GB/s", "L2 KiB", "memory partitions");
    for (const Machine& m : machines())
        text += format("%-10s %-20s %d.%d  %5d %10.1f %9s  %d, %s%s; %s\n", m.name.c_str(), m.label.c_str(), m.major, m.minor, m.sms,
                       m.dram_peak_gbs, m.l2_bytes ? std::to_string(m.l2_bytes / kib).c_str() : "none", m.map.partitions,
                       m.map.hash.empty() ? "plain" : "hashed", m.map.assumed ? " (assumed)" : "", m.source.c_str());
    return text;
}

}  // namespace harness
