// The simulator as a Device: host memory, exact counts, no clock.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include "../device.h"
#include "../error.h"
#include "launch.h"
#include "lines.h"
#include "simulator.h"

namespace sim {
namespace {

using namespace harness;
using sim::dim3;

// The other bytes_of is of an access.
size_t size_of(Type type) { return harness::bytes_of(type); }

// Calls work(begin, end) over all of [0, n), on every host thread when there is enough to do.
template <typename Work>
void in_parallel(uint64_t n, Work work)
{
    const int parts = n < (1 << 16) ? 1 : host_threads();
    std::vector<std::thread> threads;
    for (int i = 1; i < parts; ++i) threads.emplace_back(work, n / parts * i, i + 1 == parts ? n : n / parts * (i + 1));
    work(uint64_t(0), parts == 1 ? n : n / parts);
    for (std::thread& thread : threads) thread.join();
}

template <typename Bits>
void fill_region(const Region& region)
{
    Bits* data = static_cast<Bits*>(region.data);
    in_parallel(region.contents.elements(), [&region, data](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) data[i] = region.contents.at<Bits>(i);
    });
}

template <typename Bits>
Mismatch compare_region(const Region& region)
{
    const Bits* data = static_cast<const Bits*>(region.data);
    Mismatch all;
    std::mutex mutex;
    in_parallel(region.contents.elements(), [&, data](uint64_t begin, uint64_t end) {
        Mismatch own;
        for (uint64_t i = begin; i < end; ++i)
            if (data[i] != region.contents.at<Bits>(i) && own.count++ == 0) own.first = i;
        if (own.count == 0) return;
        std::lock_guard<std::mutex> lock(mutex);
        all.first = all.count ? std::min(all.first, own.first) : own.first;
        all.count += own.count;
    });
    return all;
}

std::string thread_text(int thread, dim3 block)
{
    return format("thread (%u, %u, %u)", thread % block.x, thread / block.x % block.y, thread / block.x / block.y);
}

std::string line_text(const Line& line)
{
    return line.file.empty() ? "an unknown line" : format("%s:%d", line.file.c_str(), line.number);
}

std::string block_text(uint64_t block, dim3 grid)
{
    return format("block (%llu, %llu, %llu)", (unsigned long long)(block % grid.x), (unsigned long long)(block / grid.x % grid.y),
                  (unsigned long long)(block / grid.x / grid.y));
}

// One finding in the words of compute-sanitizer.
std::string finding_text(const Finding& f, const Line& first, const Line& second, dim3 grid, dim3 block)
{
    const std::string who = thread_text(f.thread, block), other = thread_text(f.other_thread, block);
    const std::string at = line_text(first), other_at = line_text(second), in = block_text(f.block, grid);
    const unsigned bytes = bytes_of(f.first);
    const char* const places[] = {"odata", "idata", "shared memory"};
    const char* place = places[int(f.place)];
    const auto race = [&](const char* hazard, const char* does, const char* then) {
        return format("race: %s hazard in shared memory, byte %lld: %s %s at %s and %s %s at %s, with no barrier between, in %s",
                      hazard, (long long)f.offset, who.c_str(), does, at.c_str(), other.c_str(), then, other_at.c_str(), in.c_str());
    };
    const auto access = [&](const char* what) {
        return format("%s of %u bytes at byte %lld of %s: %s at %s, in %s", what, bytes, (long long)f.offset, place, who.c_str(), at.c_str(), in.c_str());
    };
    switch (f.fault) {
        case Fault::read_after_write: return race("read-after-write", "writes", "reads");
        case Fault::write_after_read: return race("write-after-read", "reads", "writes");
        case Fault::write_after_write: return race("write-after-write", "writes", "writes");
        case Fault::out_of_bounds_load: return access("out-of-bounds load");
        case Fault::out_of_bounds_store: return access("out-of-bounds store");
        case Fault::store_to_input: return access("store to the input,");
        case Fault::misaligned: return access("misaligned access");
        case Fault::uninitialized_shared: return access("uninitialized load");
        case Fault::uninitialized_output: return access("uninitialized load");
        case Fault::barrier_not_reached:
            return format("divergent barrier: the one at %s is not reached by every thread of %s: not by %s%s", at.c_str(), in.c_str(), who.c_str(),
                          f.second ? (", and some wait at " + other_at).c_str() : "");
    }
    return "";
}

class Simulator : public Device {
public:
    explicit Simulator(const Machine& machine) : machine_(machine)
    {
        use_machine(machine);
        info_ = {"sim", machine.label, "",
                 format("the simulator of the %s (compute capability %d.%d), %d host thread%s", machine.label.c_str(), machine.major,
                        machine.minor, host_threads(), host_threads() == 1 ? "" : "s"),
                 machine.dram_peak_gbs, machine.l2_bytes};
    }

    const DeviceInfo& info() const override { return info_; }
    void override_peak(double gbs) override { info_.dram_peak_gbs = gbs; }

    uint64_t free_bytes() override
    {
        // MemAvailable counts caches that give way; sysconf does not.
        uint64_t kib = 0;
        if (FILE* meminfo = fopen("/proc/meminfo", "r")) {
            char line[256];
            while (fgets(line, sizeof line, meminfo))
                if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1) break;
            fclose(meminfo);
        }
        return kib ? kib * 1024 : uint64_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    }

    void* allocate(uint64_t bytes) override
    {
        // Aligned as a page of the GPU's memory is.
        constexpr uint64_t page = 2 << 20;
        void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
        if (!memory) throw Error{status_bad_input, format("the host has no %.2f GB of memory to give", bytes / 1e9)};
        return memory;
    }

    void release(void* memory) noexcept override { std::free(memory); }
    void read(void* to, const void* from, uint64_t bytes) override { std::memcpy(to, from, bytes); }

    void fill(const Region& region) override
    {
        (size_of(region.type) == 8 ? fill_region<uint64_t> : fill_region<uint32_t>)(region);
    }

    std::vector<Mismatch> compare(const std::vector<Region>& regions) override
    {
        std::vector<Mismatch> mismatches;
        for (const Region& region : regions)
            mismatches.push_back((size_of(region.type) == 8 ? compare_region<uint64_t> : compare_region<uint32_t>)(region));
        return mismatches;
    }

    void enqueue(const Kernel& kernel, const Region& odata, const Region& idata, int width, int height) override
    {
        // idata at address 0 and odata behind it, each on a page of 2 MB of its own.
        const uint64_t bytes = idata.contents.elements() * size_of(idata.type), page = 2 << 20;
        Contents unwritten = odata.contents;
        unwritten.poison = true;
        use_memory({idata.data, bytes, 0, nullptr}, {odata.data, bytes, (bytes + page - 1) / page * page, &unwritten});
        kernel.launch[int(odata.type)](odata.data, idata.data, width, height);
    }

    void enqueue_copy(void* to, const void* from, uint64_t bytes) override { std::memcpy(to, from, bytes); }
    void finish() override {}

    bool has_clock() const override { return false; }
    double time_ms(const std::function<void()>&) override
    {
        throw Error{status_no_device, "the simulator has no clock"};
    }

    LaunchCounts take_counts(bool locate) override
    {
        const Report report = take_report();
        LaunchCounts counts;
        std::vector<uint64_t> addresses;
        if (locate || !report.findings.empty()) {
            for (const SiteCounts& site : report.sites) addresses.push_back(return_address(site.site));
            for (const Finding& finding : report.findings)
                for (Site site : {finding.first, finding.second}) addresses.push_back(return_address(site));
        }
        std::vector<Line> lines = lines_of(addresses);
        lines.resize(report.sites.size() + 2 * report.findings.size());

        const Rules rules(machine_);
        for (size_t i = 0; i < report.sites.size(); ++i) add_site(counts.sites, report.sites[i], lines[i], rules);
        for (size_t i = 0; i < report.findings.size(); ++i) {
            const Finding& finding = report.findings[i];
            const Line* at = &lines[report.sites.size() + 2 * i];
            counts.findings.push_back(finding_text(finding, at[0], at[1], report.grid, report.block) +
                                      (finding.count > 1 ? format(" (%llu times)", (unsigned long long)finding.count) : ""));
            counts.findings_total += finding.count;
        }
        counts.partitions = machine_.map.partitions;
        counts.map_assumed = machine_.map.assumed;
        const PartitionCounts& p = report.partitions;
        if (p.mean_read > 0) counts.busiest_read = double(p.busiest_read) / p.mean_read;
        if (p.mean_write > 0) counts.busiest_write = double(p.busiest_write) / p.mean_write;
        counts.resident_blocks = report.resident_blocks;
        counts.scattered_bytes = p.scattered_bytes;
        counts.load_batches = report.load_batches;
        counts.store_lines = report.store_lines;
        if (machine_.model.burst_ns > 0) {
            counts.model_bursts = p.bursts;
            counts.model_scattered = p.scattered;
            counts.model_waves = double(report.barriers) / report.resident_blocks;
        }
        return counts;
    }

private:
    // A line that the compiler made into several calls, by unrolling a loop, is one site to a reader.
    static void add_site(std::vector<AccessSite>& sites, const SiteCounts& c, const Line& line, const Rules& rules)
    {
        AccessSite fresh;
        fresh.file = line.file;
        fresh.line = line.number;
        fresh.text = line.text;
        fresh.store = kind_of(c.site) == store;
        fresh.shared = c.space == shared;
        fresh.element_bytes = bytes_of(c.site);
        fresh.unit = fresh.shared ? "wavefronts" : rules.unit(kind_of(c.site));
        AccessSite* site = nullptr;
        for (AccessSite& s : sites)
            if (!line.file.empty() && s.file == fresh.file && s.line == fresh.line && s.store == fresh.store &&
                s.shared == fresh.shared && s.element_bytes == fresh.element_bytes)
                site = &s;
        if (!site) sites.push_back(fresh), site = &sites.back();
        site->requests += c.requests;
        site->accesses += c.lanes;
        site->units += c.units;
        site->ideal += c.ideal;
        site->bytes += c.bytes;
        site->worst = std::max(site->worst, c.worst);
        if (site->stride == 0) site->stride = c.stride;
    }

    const Machine& machine_;
    DeviceInfo info_;
};

const bool registered = [] {
    backends().push_back({"sim", [](const Machine& machine, std::string&) -> std::unique_ptr<Device> { return std::make_unique<Simulator>(machine); }});
    return true;
}();

}  // namespace
}  // namespace sim
