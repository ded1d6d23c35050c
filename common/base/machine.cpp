#include "machine.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "csv.h"
#include "error.h"
#include "machine_file.h"
#include "suggest.h"

namespace harness {
namespace {

constexpr uint64_t kib = 1024;

// The files of common/machines.
const struct {
    const char *name, *text;
} built_in[] = {
#include "../../build/machines.h"
};

bool is_file(const std::string& name)
{
    const std::string end = ".machine";
    const bool ends = name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
    return ends || name.find('/') != name.npos;
}

// The built-in machine of a name, in letters of any size; null: there is none. Its file alone is read.
const Machine* built_in_machine(std::string name)
{
    static auto& known = *new std::map<std::string, Machine>;
    for (char& c : name) c = char(tolower(c));
    const std::string file = name + ".machine";
    const char* const text = built_in_text(file);
    if (!text) return nullptr;
    const auto found = known.find(name);
    if (found != known.end()) return &found->second;
    try {
        return &known.emplace(name, parse_machine(file, text)).first->second;
    } catch (const Error& error) {  // the first call comes before main, where nothing catches it
        fprintf(stderr, "common/machines/%s\n", error.message.c_str());
        std::_Exit(error.status);
    }
}

// The machine in a file. Files that were read stay in memory, because others refer to them.
const Machine& machine_in_file(const std::string& path)
{
    static std::map<std::string, Machine>& known = *new std::map<std::string, Machine>;
    const auto found = known.find(path);
    if (found != known.end()) return found->second;
    return known.emplace(path, read_machine("--machine " + path, path)).first->second;
}

std::vector<Machine> listed(const Machine& chosen)
{
    std::vector<Machine> all = machines();
    if (built_in_machine(chosen.name) != &chosen) all.push_back(chosen);
    return all;
}

std::string map_text(const PartitionMap& map)
{
    if (map.partitions == 0) return "not known";
    return format("%d, %s%s", map.partitions, map.hash.empty() ? "plain" : "hashed", map.assumed() ? " (assumed)" : "");
}

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
        shared_bytes ? (shared_bytes + reserved_shared + shared_unit - 1) / shared_unit * shared_unit
                     : 0;
    o.shared_per_sm = shared_per_sm;
    o.by_blocks = blocks_per_sm;
    o.by_threads = threads_per_sm / o.threads;
    o.by_shared = o.shared_bytes ? shared_per_sm / o.shared_bytes : ~0ull;
    o.blocks = std::max<uint64_t>(std::min({o.by_blocks, o.by_threads, o.by_shared}), 1);
    o.registers = registers_per_sm / (o.blocks * o.threads);
    return o;
}

const char* built_in_text(const std::string& name)
{
    for (const auto& file : built_in)
        if (file.name == name) return file.text;
    return nullptr;
}

const std::vector<Machine>& machines()
{
    static const std::vector<Machine>& all = *new std::vector<Machine>([] {
        std::vector<Machine> found;
        for (const auto& [name, text] : built_in)
            if (is_file(name)) found.push_back(*built_in_machine(std::string(name, std::strrchr(name, '.'))));
        return found;
    }());
    return all;
}

Capability capability(int major, int minor)
{
    static const std::vector<Capability>& rows =
        *new std::vector<Capability>(parse_capabilities(built_in_text("capabilities.csv")));
    const Capability* nearest = nullptr;
    std::string known;
    for (const Capability& row : rows) {
        if (row.major == major && row.minor <= minor) nearest = &row;
        known += format("%s%d.%d", known.empty() ? "" : ", ", row.major, row.minor);
    }
    if (nearest) return *nearest;
    throw Error{status_bad_input, "unknown limits; expected one of " + known};
}

const Machine& machine_named(const std::string& name_or_file)
{
    if (is_file(name_or_file)) return machine_in_file(name_or_file);
    if (const Machine* built_in = built_in_machine(name_or_file)) return *built_in;
    std::vector<std::string> names;
    for (const Machine& m : machines()) names.push_back(m.name);
    std::string expected = expected_one_of(name_or_file, names);
    if (nearest(name_or_file, names).empty()) expected += ", or a file whose name ends in .machine";
    throw Error{status_bad_input, "--machine " + name_or_file + ": " + expected};
}

std::string list_machines(const Machine& chosen)
{
    const std::vector<Machine> all = listed(chosen);
    std::string text = format("%-10s %-20s %4s %5s %10s %9s  %s\n", "name", "machine", "CC", "SMs", "peak GB/s",
                              "L2 KiB", "memory partitions");
    for (const Machine& m : all)
        text += format("%-10s %-20s %d.%d  %5d %10.1f %9s  %s%s%s\n", m.name.c_str(), m.label.c_str(), m.major,
                       m.minor, m.sms, m.dram_peak_gbs(),
                       m.l2_bytes ? std::to_string(m.l2_bytes / kib).c_str() : "none", map_text(m.map).c_str(),
                       m.source.empty() ? "" : "; ", m.source.c_str());

    text += format("\n%-10s %9s %8s %10s\n", "peak", "clock MHz", "bus bits", "GB/s");
    for (const Machine& m : all)
        text += format("%-10s %9d %8d %10.1f\n", m.name.c_str(), m.dram_mhz, m.bus_bits, m.dram_peak_gbs());

    // Little's law: what is on its way is what arrives per second, times how long it is on its way.
    text += format("\n%-10s %10s %10s %15s %18s  %s\n", "in flight", "latency ns", "peak GB/s", "bytes per SM",
                   "threads per SM", "source of the latency");
    for (const Machine& m : all) {
        if (m.latency_ns() == 0) continue;
        const double bytes = m.latency_ns() * m.dram_peak_gbs() / m.sms;
        text += format("%-10s %10.0f %10.1f %15.0f %18s  %s\n", m.name.c_str(), m.latency_ns(), m.dram_peak_gbs(),
                       bytes, format("%.0f of %d", bytes / 4, m.threads_per_sm).c_str(), m.latency_source.c_str());
    }
    return text +
           "bytes per SM: the bytes in flight that the DRAM peak needs. threads per SM: the threads that keep them in "
           "flight, with one load of 4 bytes each.\n";
}

std::string machines_csv(const Machine& chosen)
{
    std::string text = csv_line({"name", "machine", "major", "minor", "sms", "dram_peak_gbs", "l2_bytes",
                                 "blocks_per_sm", "threads_per_sm", "shared_per_sm", "reserved_shared_per_block",
                                 "shared_unit", "partitions", "granularity", "hash", "assumed", "source",
                                 "latency_ns", "latency_source"});
    for (const Machine& m : listed(chosen)) {
        std::string hash;
        for (uint64_t mask : m.map.hash) hash += format("%s%llx", hash.empty() ? "" : " ", (unsigned long long)mask);
        const auto number = [](uint64_t n) { return std::to_string(n); };
        text +=
            csv_line({m.name, m.label, number(m.major), number(m.minor), number(m.sms), format("%g", m.dram_peak_gbs()),
                      number(m.l2_bytes), number(m.blocks_per_sm), number(m.threads_per_sm), number(m.shared_per_sm),
                      number(m.reserved_shared), number(m.shared_unit), number(m.map.partitions),
                      number(m.map.granularity), hash, m.map.assumed() ? "yes" : "no", m.source,
                      format("%g", m.latency_ns()), m.latency_source});
    }
    return text;
}

}  // namespace harness
