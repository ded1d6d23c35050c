#include "machine.h"

#include <strings.h>

#include <algorithm>
#include <initializer_list>

#include "csv.h"
#include "error.h"
#include "suggest.h"

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

constexpr uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

}  // namespace

// In a range of 2^n bytes the lower n bits of the address take every value. They reach every value of the hash equally
// often as soon as the hash's bits are independent there: none is the sum (XOR) of others.
uint64_t PartitionMap::round_bytes() const
{
    if (hash.empty()) return uint64_t(granularity) * partitions;
    for (int n = 1; n < 64; ++n) {
        std::vector<uint64_t> rows;
        for (uint64_t mask : hash) {
            uint64_t left = mask & ((uint64_t(1) << n) - 1);
            for (uint64_t row : rows) left = std::min(left, left ^ row);
            if (left) rows.push_back(left);
        }
        if (rows.size() == hash.size()) return uint64_t(1) << n;
    }
    return ~uint64_t(0);
}

const char* Occupancy::limit() const
{
    if (blocks == by_threads) return "threads";
    return blocks == by_shared ? "shared memory" : "blocks";
}

// CUDA C Programming Guide, "Technical Specifications per Compute Capability".
int Machine::registers_per_sm() const
{
    if (major == 1) return minor < 2 ? 8192 : 16384;
    if (major == 2) return 32768;
    return major == 3 && minor == 7 ? 131072 : 65536;
}

// 1.x: grid and block sizes and the kernel's parameters lie there.
uint64_t Machine::reserved_shared_per_block() const { return major == 1 ? 32 : major >= 8 ? 1 * kib : 0; }

// "Shared memory allocation unit size" of NVIDIA's occupancy calculator; that of 9.0 was measured, too
// (tests/sim/language/refusals.cu).
uint64_t Machine::shared_unit() const { return major == 1 ? 512 : major == 2 || major >= 8 ? 128 : 256; }

double Machine::latency_ns() const
{
    if (roofline.loads_in_flight_per_s > 0) return sms * (threads_per_sm / 32) / roofline.loads_in_flight_per_s * 1e9;
    return latency_clocks * 1e3 / sm_mhz;
}

Occupancy Machine::occupancy(int threads, uint64_t shared_bytes) const
{
    Occupancy o;
    o.threads = (std::max(threads, 1) + 31) / 32 * 32;
    o.threads_per_sm = threads_per_sm;
    o.sms = sms;
    o.shared_bytes =
        shared_bytes ? (shared_bytes + reserved_shared_per_block() + shared_unit() - 1) / shared_unit() * shared_unit()
                     : 0;
    o.shared_per_sm = shared_per_sm;
    o.by_blocks = blocks_per_sm;
    o.by_threads = threads_per_sm / o.threads;
    o.by_shared = o.shared_bytes ? shared_per_sm / o.shared_bytes : ~0ull;
    o.blocks = std::max<uint64_t>(std::min({o.by_blocks, o.by_threads, o.by_shared}), 1);
    o.registers = registers_per_sm() / (o.blocks * o.threads);
    return o;
}

const std::vector<Machine>& machines()
{
    // Limits per SM: CUDA C Programming Guide, table "Technical Specifications per Compute
    // Capability". Clocks, widths, SMs and caches: the vendor's product sheets; the H200's memory clock: its driver.
    // clang-format off
    static const std::vector<Machine> all = {
        {"g80", "GeForce 8800 GTX", 1, 0, 16, 1350, 768 * mib, 900, 384, 0, 8, 768, 16 * kib,
         plain(6, 256), "whitepaper: 6 partitions of 256 bytes"},
        {"gtx280", "GeForce GTX 280", 1, 3, 30, 1296, 1 * gib, 1107, 512, 0, 8, 1024, 16 * kib,
         plain(8, 256), "whitepaper: 8 partitions of 256 bytes",
         // Fitted by plots/fit_gtx280.py on three rows of the whitepaper's table.
         {2.2536, 1.6287, 1254.9, 4096}, {}, 440, "Wong et al., ISPASS 2010"},
        {"m2090", "Tesla M2090", 2, 0, 16, 1300, 6 * gib, 1850, 384, 768 * kib, 8, 1536, 48 * kib,
         assumed(6, v100_map()), "map not published"},
        {"k20x", "Tesla K20X", 3, 5, 14, 732, 6 * gib, 2600, 384, 1536 * kib, 16, 2048, 48 * kib,
         assumed(6, v100_map()), "map not published"},
        {"k20c", "Tesla K20c", 3, 5, 13, 706, 5 * gib, 2600, 320, 1280 * kib, 16, 2048, 48 * kib,
         assumed(5, v100_map()), "map not published",
         {}, {}, 300, "CUDA C Programming Guide 6.0: 200 to 400 clocks"},
        {"gtx1050ti", "GeForce GTX 1050 Ti", 6, 1, 6, 1392, 4 * gib, 3504, 128, 1 * mib, 32, 2048, 96 * kib,
         assumed(4, gtx1080_map()), "map assumed like the GTX 1080's"},
        {"gtx1080", "GeForce GTX 1080", 6, 1, 20, 1734, 8 * gib, 5005, 256, 2 * mib, 32, 2048, 96 * kib,
         gtx1080_map(), "map: Jain et al., RTAS 2019"},
        {"v100", "Tesla V100", 7, 0, 80, 1530, 16 * gib, 877, 4096, 6 * mib, 32, 2048, 96 * kib,
         v100_map(), "map: Jain et al., RTAS 2019"},
        {"t4", "Tesla T4", 7, 5, 40, 1590, 16 * gib, 5001, 256, 4 * mib, 16, 1024, 64 * kib,
         assumed(16, v100_map()), "map not published"},
        {"a100", "A100 40 GB", 8, 0, 108, 1410, 40 * gib, 1215, 5120, 40 * mib, 32, 2048, 164 * kib,
         assumed(40, v100_map()), "map not published"},
        {"h100", "H100 SXM", 9, 0, 132, 1980, 80 * gib, 2619, 5120, 50 * mib, 32, 2048, 228 * kib,
         assumed(80, v100_map()), "map not published", {},
         // plots/data/h100_micro.csv; launch_ns is emptyKernel's time (step 1)
         {2200, 146, 0.033, 391, 1.797e10, 20, 33, 16, 0.032, 1.642e9, 2933.3, 2714.5, 3.222e10, 2.346e10, 1.359e10,
          6.246e10, 5.163e11, 1.366e11, 2.567e11, 1.302e11, 256 * kib, 4}, 0,
         "one load in flight per thread, measured"},
        {"h200", "H200", 9, 0, 132, 1980, 141000000000, 3134, 6144, 60 * mib, 32, 2048, 228 * kib,
         assumed(32, v100_map()), "partitions and map not published", {},
         // plots/data/h200_micro.csv; what an SM waits for, and its L1: those of the H100, which has the same SMs
         {3000, 146, 0.033, 381, 1.98543e10, 20, 33, 16, 0.032, 1.642e9, 4098.25, 3399.29, 4.501e10, 3.278e10, 1.899e10,
          7.12608e10, 5.163e11, 1.366e11, 2.57478e11, 1.302e11, 256 * kib, 4}, 0,
         "one load in flight per thread, measured"},
    };
    // clang-format on
    return all;
}

const Machine& machine_named(const std::string& name)
{
    std::vector<std::string> names;
    for (const Machine& m : machines()) {
        if (strcasecmp(m.name.c_str(), name.c_str()) == 0) return m;
        names.push_back(m.name);
    }
    throw Error{status_bad_input, "--machine " + name + ": " + expected_one_of(name, names)};
}

const Machine& machine_labelled(const std::string& label)
{
    for (const Machine& m : machines())
        if (m.label == label) return m;
    throw Error{status_bad_input, "no machine is called " + label};
}

std::string list_machines()
{
    std::string text = format("%-10s %-20s %4s %5s %10s %9s  %s\n", "name", "machine", "CC", "SMs", "peak GB/s",
                              "L2 KiB", "memory partitions");
    for (const Machine& m : machines())
        text += format("%-10s %-20s %d.%d  %5d %10.1f %9s  %d, %s%s; %s\n", m.name.c_str(), m.label.c_str(), m.major,
                       m.minor, m.sms, m.dram_peak_gbs(),
                       m.l2_bytes ? std::to_string(m.l2_bytes / kib).c_str() : "none", m.map.partitions,
                       m.map.hash.empty() ? "plain" : "hashed", m.map.assumed ? " (assumed)" : "", m.source.c_str());

    text += format("\n%-10s %9s %8s %10s\n", "peak", "clock MHz", "bus bits", "GB/s");
    for (const Machine& m : machines())
        text += format("%-10s %9d %8d %10.1f\n", m.name.c_str(), m.dram_mhz, m.bus_bits, m.dram_peak_gbs());

    // Little's law: what is on its way is what arrives per second, times how long it is on its way.
    text += format("\n%-10s %10s %10s %15s %18s  %s\n", "in flight", "latency ns", "peak GB/s", "bytes per SM",
                   "threads per SM", "source of the latency");
    for (const Machine& m : machines()) {
        if (m.latency_ns() == 0) continue;
        const double bytes = m.latency_ns() * m.dram_peak_gbs() / m.sms;
        text += format("%-10s %10.0f %10.1f %15.0f %18s  %s\n", m.name.c_str(), m.latency_ns(), m.dram_peak_gbs(),
                       bytes, format("%.0f of %d", bytes / 4, m.threads_per_sm).c_str(), m.latency_source.c_str());
    }
    return text +
           "bytes per SM: the bytes in flight that the DRAM peak needs. threads per SM: the threads that keep them in "
           "flight, with one load of 4 bytes each.\n";
}

std::string machines_csv()
{
    std::string text = csv_line({"name", "machine", "major", "minor", "sms", "dram_peak_gbs", "l2_bytes",
                                 "blocks_per_sm", "threads_per_sm", "shared_per_sm", "reserved_shared_per_block",
                                 "shared_unit", "partitions", "granularity", "hash", "assumed", "source",
                                 "latency_ns", "latency_source"});
    for (const Machine& m : machines()) {
        std::string hash;
        for (uint64_t mask : m.map.hash) hash += format("%s%llx", hash.empty() ? "" : " ", (unsigned long long)mask);
        const auto number = [](uint64_t n) { return std::to_string(n); };
        text +=
            csv_line({m.name, m.label, number(m.major), number(m.minor), number(m.sms), format("%g", m.dram_peak_gbs()),
                      number(m.l2_bytes), number(m.blocks_per_sm), number(m.threads_per_sm), number(m.shared_per_sm),
                      number(m.reserved_shared_per_block()), number(m.shared_unit()), number(m.map.partitions),
                      number(m.map.granularity), hash, m.map.assumed ? "yes" : "no", m.source,
                      format("%g", m.latency_ns()), m.latency_source});
    }
    return text;
}

}  // namespace harness
