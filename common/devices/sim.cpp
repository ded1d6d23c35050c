// The simulator as a Device: host memory, exact counts, no clock.

#include <algorithm>
#include <cstring>
#include <utility>

#include "../../sim/core/grid/simulator.h"
#include "../../sim/elf/symbols.h"
#include "../base/error.h"
#include "host_memory.h"
#include "on_parts.h"

namespace sim {
namespace {

using namespace harness;

// An output that the harness filled with poison.
class Poisoned : public Unwritten {
public:
    explicit Poisoned(Contents contents) : contents_(contents) { contents_.holds = Holds::poison; }
    uint64_t element_bytes() const override { return harness::bytes_of(contents_.type); }
    bool has(uint64_t n, const void* element) const override
    {
        return with_bits(contents_.type, [&](auto found) {
            std::memcpy(&found, element, sizeof found);
            return found == contents_.at<decltype(found)>(n);
        });
    }

private:
    Contents contents_;
};

class Simulator : public HostMemory {
public:
    explicit Simulator(const Wanted& wanted) : machine_(wanted.machine), separate_host_(wanted.separate_host)
    {
        need_symbols();
        info_.backend = "sim";
        info_.machine = machine_.label;
        info_.description =
            format("the simulator of the %s (compute capability %d.%d), %d host thread%s", machine_.label.c_str(),
                   machine_.major, machine_.minor, host_threads(), host_threads() == 1 ? "" : "s");
        info_.dram_peak_gbs = machine_.dram_peak_gbs();
        info_.l2_bytes = machine_.l2_bytes;
        info_.simulated = &machine_;
    }

    Done enqueue(const harness::Pass& pass) override
    {
        PassSums sums = run(pass, false);
        Done done;
        done.launch = sums.last;
        done.counts = counts_of(sums.report, machine_, pass.look.locate);
        if (pass.kernel.gpus) done.counts.between = sums.between(pass.kernel.gpus);
        add_findings(done.counts, sums.found);
        // If each element was stored once and none was loaded, a right result shows that there was no race.
        done.may_have_raced =
            sums.report.unordered_possible || sums.report.output_stored > written_bytes(pass.odata.contents);
        return done;
    }

    // Every access to global memory is checked against those before it.
    LaunchCounts look_closely(const harness::Pass& pass) override
    {
        std::vector<Found> found = run(pass, true).found;
        const auto no_race = [](const Found& f) {
            return f.finding.kind != &kinds::race || f.finding.space != harness::global;
        };
        found.erase(std::remove_if(found.begin(), found.end(), no_race), found.end());
        LaunchCounts counts;
        add_findings(counts, found);
        return counts;
    }

    bool has_clock() const override { return false; }
    double time_ms(const std::function<void()>&) override
    {
        throw Error{status_no_device, "the simulator has no clock"};
    }

private:
    static uint64_t bytes(const Contents& c) { return c.elements() * harness::bytes_of(c.type); }
    static uint64_t written_bytes(const Contents& c)
    {
        return c.expected.what == Produces::nothing ? 0 : c.width * c.height * harness::bytes_of(c.type);
    }

    PassSums run(const harness::Pass& pass, bool exact) const
    {
        Settings settings;
        settings.machine = &machine_;
        settings.exact = exact;
        settings.alone = pass.kernel.role == Role::faulty;
        settings.trace = pass.look.trace;
        settings.drawn = pass.look.drawn;
        const Poisoned unwritten(pass.odata.contents);
        PassSums sums = pass.kernel.gpus ? OnParts(pass, settings, unwritten, separate_host_).run()
                                         : OnOne(pass, settings, unwritten, separate_host_).run();
        if (sums.gave_up)
            throw Error{status_bad_input, "the search for races in global memory takes more memory than the host can "
                                          "give; choose a smaller --size"};
        return sums;
    }

    static void add_findings(LaunchCounts& counts, const std::vector<Found>& found)
    {
        for (const auto& [finding, grid, block, gpu] : found) {
            counts.findings.push_back(finding_of(finding, "", grid, block, gpu < 0 ? Remedy::event : Remedy::none));
            if (gpu >= 0) counts.findings.back().text += format(", on GPU %d", gpu);
            counts.findings_total += finding.count;
        }
    }

    const Machine& machine_;
    const bool separate_host_;
};

const bool registered = [] {
    backends().push_back({"sim", [](const Wanted& wanted, std::string&) -> std::unique_ptr<Device> {
                              return std::make_unique<Simulator>(wanted);
                          }});
    return true;
}();

}  // namespace

}  // namespace sim
