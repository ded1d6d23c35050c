// The simulator as a Device: host memory, exact counts, no clock.

#include <algorithm>
#include <map>

#include "../error.h"
#include "../host.h"
#include "global_checker.h"
#include "places.h"
#include "simulator.h"

namespace sim {
namespace {

using namespace harness;

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

// A line that the compiler made into several calls, by unrolling a loop, is one site to a reader.
// `worst`: of each of the sites.
void add_site(std::vector<AccessSite>& sites, std::vector<WorstConflict>& worst, const SiteCounts& c, const Place& line, const Rules& rules)
{
    AccessSite fresh;
    fresh.file = line.file;
    fresh.line = line.line;
    fresh.text = line.text;
    fresh.store = kind_of(c.site) == store;
    fresh.atomic = kind_of(c.site) == atomic;
    fresh.shared = c.space == shared;
    fresh.peer = c.space == peer;
    fresh.element_bytes = bytes_of(c.site);
    fresh.unit = fresh.shared ? "wavefronts" : rules.unit(kind_of(c.site));
    AccessSite* site = nullptr;
    for (AccessSite& s : sites)
        if (!line.file.empty() && s.file == fresh.file && s.line == fresh.line && s.store == fresh.store && s.atomic == fresh.atomic &&
            s.shared == fresh.shared && s.peer == fresh.peer && s.element_bytes == fresh.element_bytes)
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

}  // namespace

LaunchCounts counts_of(const Report& report, const Machine& machine, bool locate)
{
    LaunchCounts counts;
    std::map<Site, Place> places;
    for (const SiteCounts& site : report.sites) places[site.site] = locate ? place_of(return_address(site.site)) : Place();

    const Rules rules(machine);
    std::vector<WorstConflict> worst;
    for (const SiteCounts& site : report.sites) add_site(counts.sites, worst, site, places[site.site], rules);
    counts.partitions = machine.map.partitions;
    counts.map_assumed = machine.map.assumed;
    const PartitionCounts& p = report.partitions;
    if (p.mean_read > 0) counts.busiest_read = double(p.busiest_read) / p.mean_read;
    if (p.mean_write > 0) counts.busiest_write = double(p.busiest_write) / p.mean_write;
    counts.resident_blocks = report.resident_blocks;
    counts.shared_bytes = report.shared_bytes;
    counts.launched = report.launched;
    counts.occupancy = machine.occupancy(report.block.x * report.block.y * report.block.z, report.shared_bytes);
    counts.scattered_bytes = p.scattered_bytes;
    counts.load_batches = report.load_batches;
    counts.load_lines = report.load_lines;
    counts.store_lines = report.store_lines;
    if (machine.model.burst_ns > 0) {
        counts.model_bursts = p.bursts;
        counts.model_scattered = p.scattered;
        counts.model_waves = double(report.barriers) / report.resident_blocks;
    }
    return counts;
}

namespace {

class Simulator : public HostMemory {
public:
    explicit Simulator(const Machine& machine) : machine_(machine)
    {
        use_machine(machine);
        info_ = {"sim", machine.label, "",
                 format("the simulator of the %s (compute capability %d.%d), %d host thread%s", machine.label.c_str(), machine.major,
                        machine.minor, host_threads(), host_threads() == 1 ? "" : "s"),
                 machine.dram_peak_gbs(), machine.l2_bytes, "", 0};
    }

    void enqueue(const Kernel& kernel, const Region& odata, const Region& idata, int width, int height, Block block) override
    {
        last_ = {&kernel, odata, idata, width, height, block};
        launch_last();
    }

    bool has_clock() const override { return false; }
    double time_ms(const std::function<void()>&) override
    {
        throw Error{status_no_device, "the simulator has no clock"};
    }

    void trace_to(const TraceSink* sink) override { use_trace(sink); }

    LaunchCounts take_counts(bool locate) override
    {
        const Report report = take_report();
        LaunchCounts counts = counts_of(report, machine_, locate);
        add_findings(counts, report);
        // Each element stored once, and none loaded: if the result is right, there was no race.
        const Contents& out = last_.odata.contents;
        if (last_.kernel && (report.unordered_possible || report.output_stored > written_bytes(out))) add_races(counts);
        return counts;
    }

    LaunchCounts look_again() override
    {
        LaunchCounts counts;
        if (last_.kernel) add_races(counts);
        return counts;
    }

private:
    struct Last {
        const Kernel* kernel = nullptr;
        Region odata{}, idata{};
        int width = 0, height = 0;
        Block block;
    };

    static uint64_t bytes(const Contents& c) { return c.elements() * harness::bytes_of(c.type); }
    static uint64_t written_bytes(const Contents& c)
    {
        return c.expected.what == Produces::nothing ? 0 : c.width * c.height * harness::bytes_of(c.type);
    }

    void launch_last()
    {
        // idata at address 0 and odata behind it, each on a page of 2 MB of its own.
        const uint64_t page = 2 << 20, behind = (bytes(last_.idata.contents) + page - 1) / page * page;
        Contents unwritten = last_.odata.contents;
        unwritten.holds = Holds::poison;
        use_matrices(last_.idata.data, bytes(last_.idata.contents), last_.odata.data, bytes(last_.odata.contents), behind, &unwritten);
        for (const auto& memory : memory().all())
            if (exact_ && memory->counted && !memory->constant) {
                memory->shadow = std::make_shared<Shadow>(memory->bytes);
                if (!memory->unwritten) memory->shadow->note_written(0, memory->bytes);
            }
        use_one_host_thread(last_.kernel->part == Part::faulty);
        last_.kernel->launch[int(last_.odata.contents.type)](last_.odata.data, last_.idata.data, last_.width, last_.height, last_.block);
        for (const auto& memory : memory().all()) memory->shadow.reset();
        use_matrices(nullptr, 0, nullptr, 0, 0);
    }

    // The last launch once more, with every access to global memory checked against those before it.
    void add_races(LaunchCounts& counts)
    {
        Contents unwritten = last_.odata.contents;
        unwritten.holds = Holds::poison;
        fill({last_.odata.data, unwritten});
        exact_ = true;
        use_exact_checks(true);
        const Launch launch = last_launch();
        launch_last();
        last_launch() = launch;
        use_exact_checks(false);
        exact_ = false;
        Report report = take_report();
        const auto no_race = [](const Finding& f) { return !f.global || f.fault > Fault::write_after_write; };
        report.findings.erase(std::remove_if(report.findings.begin(), report.findings.end(), no_race), report.findings.end());
        add_findings(counts, report);
    }

    static void add_findings(LaunchCounts& counts, const Report& report)
    {
        for (const Finding& finding : report.findings) {
            counts.findings.push_back(finding_text(finding, report.grid, report.block) +
                                      (finding.count > 1 ? format(" (%llu times)", (unsigned long long)finding.count) : ""));
            counts.findings_total += finding.count;
        }
    }

    const Machine& machine_;
    bool exact_ = false;
    Last last_;
};

const bool registered = [] {
    backends().push_back({"sim", [](const Machine& machine, std::string&) -> std::unique_ptr<Device> { return std::make_unique<Simulator>(machine); }});
    return true;
}();

}  // namespace

}  // namespace sim
