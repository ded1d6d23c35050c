// The simulator as a Device: host memory, exact counts, no clock.

#include <algorithm>
#include <map>

#include "../error.h"
#include "../host.h"
#include "launch.h"
#include "lines.h"
#include "simulator.h"

namespace sim {
namespace {

using namespace harness;
using sim::dim3;

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

// Two lanes that meet; empty if none do.
std::string conflict_text(const Conflict& c)
{
    if (c.lanes[0] < 0) return "";
    const std::string meet = format("lanes %d and %d meet in bank %u", c.lanes[0], c.lanes[1], c.bank);
    // Of 1.x alone.
    if (c.words[0] == c.words[1])
        return format("%s, both at word %llu of shared memory: only one word at a time goes to several lanes", meet.c_str(), (unsigned long long)c.words[0]);
    return format("%s, at words %llu and %llu of shared memory", meet.c_str(), (unsigned long long)c.words[0], (unsigned long long)c.words[1]);
}

class Simulator : public HostMemory {
public:
    explicit Simulator(const Machine& machine) : machine_(machine)
    {
        use_machine(machine);
        info_ = {"sim", machine.label, "",
                 format("the simulator of the %s (compute capability %d.%d), %d host thread%s", machine.label.c_str(), machine.major,
                        machine.minor, host_threads(), host_threads() == 1 ? "" : "s"),
                 machine.dram_peak_gbs, machine.l2_bytes, "", 0};
    }

    void enqueue(const Kernel& kernel, const Region& odata, const Region& idata, int width, int height, Block block) override
    {
        // idata at address 0 and odata behind it, each on a page of 2 MB of its own.
        const auto bytes = [](const Contents& c) { return c.elements() * harness::bytes_of(c.type); };
        const uint64_t page = 2 << 20, behind = (bytes(idata.contents) + page - 1) / page * page;
        Contents unwritten = odata.contents;
        unwritten.holds = Holds::poison;
        use_memory({idata.data, bytes(idata.contents), 0, nullptr}, {odata.data, bytes(odata.contents), behind, &unwritten});
        kernel.launch[int(odata.contents.type)](odata.data, idata.data, width, height, block);
    }

    bool has_clock() const override { return false; }
    double time_ms(const std::function<void()>&) override
    {
        throw Error{status_no_device, "the simulator has no clock"};
    }

    void keep_trace() override
    {
        use_trace(true);
        tracing_ = true;
    }

    LaunchCounts take_counts(bool locate) override
    {
        const Report report = take_report();
        LaunchCounts counts;
        std::vector<uint64_t> addresses;
        if (locate || tracing_ || !report.findings.empty()) {
            for (const SiteCounts& site : report.sites) addresses.push_back(return_address(site.site));
            for (const Finding& finding : report.findings)
                for (Site site : {finding.first, finding.second}) addresses.push_back(return_address(site));
        }
        std::vector<Line> lines = lines_of(addresses);
        lines.resize(report.sites.size() + 2 * report.findings.size());

        std::map<Site, int> number;
        for (size_t i = 0; i < report.sites.size(); ++i) number[report.sites[i].site] = lines[i].number;
        for (const Traced& t : report.trace) counts.trace.push_back(traced(t, report.grid, number[t.site]));

        const Rules rules(machine_);
        std::vector<WorstConflict> worst;
        for (size_t i = 0; i < report.sites.size(); ++i) add_site(counts.sites, worst, report.sites[i], lines[i], rules);
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
        counts.shared_bytes = report.shared_bytes;
        counts.scattered_bytes = p.scattered_bytes;
        counts.load_batches = report.load_batches;
        counts.load_lines = report.load_lines;
        counts.store_lines = report.store_lines;
        if (machine_.model.burst_ns > 0) {
            counts.model_bursts = p.bursts;
            counts.model_scattered = p.scattered;
            counts.model_waves = double(report.barriers) / report.resident_blocks;
        }
        return counts;
    }

private:
    static TracedRequest traced(const Traced& t, dim3 grid, int line)
    {
        const char* const memories[] = {"idata", "odata", "shared"};
        return {{unsigned(t.block % grid.x), unsigned(t.block / grid.x % grid.y), unsigned(t.block / grid.x / grid.y)},
                t.warp, t.phase, kind_of(t.site) == store, memories[t.where], line, bytes_of(t.site), t.lanes, t.offsets, t.units, t.partition};
    }

    // A line that the compiler made into several calls, by unrolling a loop, is one site to a reader.
    // `worst`: of each of the sites.
    static void add_site(std::vector<AccessSite>& sites, std::vector<WorstConflict>& worst, const SiteCounts& c, const Line& line, const Rules& rules)
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
        if (!site) sites.push_back(fresh), worst.push_back({}), site = &sites.back();
        site->requests += c.requests;
        site->accesses += c.lanes;
        site->units += c.units;
        site->ideal += c.ideal;
        site->bytes += c.bytes;
        site->asked += c.asked;
        site->worst = std::max(site->worst, c.worst);
        if (site->stride == 0) site->stride = c.stride;
        WorstConflict& conflict = worst[site - sites.data()];
        conflict.add(c.worst_conflict);
        site->conflict = conflict_text(conflict.conflict);
    }

    const Machine& machine_;
    bool tracing_ = false;
};

const bool registered = [] {
    backends().push_back({"sim", [](const Machine& machine, std::string&) -> std::unique_ptr<Device> { return std::make_unique<Simulator>(machine); }});
    return true;
}();

}  // namespace
}  // namespace sim
