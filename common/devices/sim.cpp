// The simulator as a Device: host memory, exact counts, no clock.

#include <algorithm>
#include <cstring>
#include <utility>

#include "../../sim/core/global_checker.h"
#include "../../sim/core/host_process.h"
#include "../../sim/core/record_list.h"
#include "../../sim/core/simulator.h"
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
    const Contents& contents() const { return contents_; }
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

// Notes a launch of the harness. Throws if CUDA would refuse it.
bool begin_launch(const Launching& launching, dim3& grid)
{
    grid.z = note_launch(launching.kernel, grid, launching.configuration.block, launching.arguments);
    check_bound(launch_bound(launching.kernel));
    return true;
}

class Simulator : public HostMemory {
public:
    explicit Simulator(const Wanted& wanted) : machine_(wanted.machine), separate_host_(wanted.separate_host)
    {
        need_symbols();
        use_machine(machine_);
        // A CUDA runtime in this program notes its launches itself.
        if (!launch_hooks().begins) launch_hooks().begins = begin_launch;
        info_ = {"sim",
                 machine_.label,
                 "",
                 format("the simulator of the %s (compute capability %d.%d), %d host thread%s", machine_.label.c_str(),
                        machine_.major, machine_.minor, host_threads(), host_threads() == 1 ? "" : "s"),
                 machine_.dram_peak_gbs(),
                 machine_.l2_bytes,
                 "",
                 0,
                 0,
                 &machine_};
    }

    void enqueue(const Kernel& kernel, const Region& odata, const Region& idata, int width, int height,
                 Block block) override
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
        Account account = take_account();
        const Report& report = account.report;
        LaunchCounts counts = counts_of(report, machine_, locate);
        if (last_.kernel && last_.kernel->gpus) counts.between = account.between(last_.kernel->gpus);
        add_findings(counts, account.found);
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

    // The output before a launch.
    Poisoned unwritten_output() const { return Poisoned(last_.odata.contents); }

    // The account of all launches since the last call.
    Account take_account()
    {
        Account account = std::exchange(on_parts_, {});
        const Report report = take_report();
        for (const Finding& finding : report.findings)
            account.found.push_back({finding, report.grid, report.block, -1});
        if (account.report.launched.launches == 0) account.report = report;
        return account;
    }

    // The memory that is known, unless it is watched already.
    void watch_for_races()
    {
        for (const auto& memory : memory().all())
            if (exact_ && memory->counted && !memory->constant && !memory->shadow) {
                memory->shadow = std::make_shared<Shadow>(memory->bytes);
                if (!memory->unwritten) memory->shadow->note_written(0, memory->bytes);
            }
    }

    static void stop_watching()
    {
        const auto& all = memory().all();
        const bool gave_up = std::any_of(
            all.begin(), all.end(), [](const auto& memory) { return memory->shadow && memory->shadow->gave_up(); });
        for (const auto& memory : all) memory->shadow.reset();
        if (gave_up)
            throw Error{status_bad_input, "the search for races in global memory takes more memory than the host can "
                                          "give; choose a smaller --size"};
    }

    void launch_on_parts()
    {
        const Poisoned unwritten = unwritten_output();
        const std::function<void()> watch = [this] { watch_for_races(); };
        OnParts pass(*last_.kernel, last_.odata, last_.idata, last_.width, last_.height, unwritten, watch, on_parts_,
                     separate_host_);
        use_one_host_thread(last_.kernel->part == Part::faulty);
        pass.launch();
        stop_watching();
    }

    void launch_last()
    {
        if (last_.kernel->gpus) return launch_on_parts();
        // idata at address 0 and odata behind it, each on a page of 2 MB of its own.
        const uint64_t page = 2 << 20, behind = (bytes(last_.idata.contents) + page - 1) / page * page;
        const Poisoned unwritten = unwritten_output();
        use_matrices(last_.idata.data, bytes(last_.idata.contents), last_.odata.data, bytes(last_.odata.contents),
                     behind, &unwritten);
        watch_for_races();
        use_one_host_thread(last_.kernel->part == Part::faulty);
        const auto launcher = [&] {
            last_.kernel->launch[int(last_.odata.contents.type)](last_.odata.data, last_.idata.data, last_.width,
                                                                 last_.height, last_.block);
        };
        run_launcher(launcher, separate_host_);
        stop_watching();
        use_matrices(nullptr, 0, nullptr, 0, 0);
    }

    // The last launch once more, with every access to global memory checked against those before it.
    void add_races(LaunchCounts& counts)
    {
        fill({last_.odata.data, unwritten_output().contents()});
        exact_ = true;
        use_exact_checks(true);
        const Launch launch = last_launch();
        launch_last();
        last_launch() = launch;
        use_exact_checks(false);
        exact_ = false;
        std::vector<Found> found = take_account().found;
        const auto no_race = [](const Found& f) {
            return !f.finding.global ||
                   (f.finding.fault > Fault::write_after_write && f.finding.fault != Fault::race_beside);
        };
        found.erase(std::remove_if(found.begin(), found.end(), no_race), found.end());
        add_findings(counts, found);
    }

    static void add_findings(LaunchCounts& counts, const std::vector<Found>& found)
    {
        for (const auto& [finding, grid, block, gpu] : found) {
            counts.findings.push_back(finding_record(finding, "", grid, block, gpu < 0 ? Remedy::event : Remedy::none));
            if (gpu >= 0) counts.findings.back().text += format(", on GPU %d", gpu);
            counts.findings_total += finding.count;
        }
    }

    const Machine& machine_;
    const bool separate_host_;
    bool exact_ = false;
    Last last_;
    Account on_parts_;
};

const bool registered = [] {
    backends().push_back({"sim", [](const Wanted& wanted, std::string&) -> std::unique_ptr<Device> {
                              return std::make_unique<Simulator>(wanted);
                          }});
    return true;
}();

}  // namespace

}  // namespace sim
