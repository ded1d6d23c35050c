// The program every step is: verify each kernel, then time it (GPU) or count its requests
// (simulator), verify again, report.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "bench.h"
#include "device.h"
#include "errata.h"
#include "base/error.h"
#include "base/explain.h"
#include "base/files.h"
#include "options.h"
#include "results.h"

namespace harness {
namespace {

constexpr int clock_samples = 20;

const char* name_of(const Kernel& k)
{
    switch (k.part) {
        case Part::lesson: return "lesson";
        case Part::variant: return "variant";
        case Part::faulty: return "faulty";
    }
    return "";
}

const char* place_of(const Kernel& k)
{
    return k.transfer.way != Transfer::none ? "bus" : k.backend == "cpu" ? "CPU" : "GPU";
}

// Wide enough for every kernel of every step: `make list` puts the lists one below the other.
void list()
{
    const char* const line = "%-18s %-30s %-8s %-4s %-21s %s\n";
    printf(line, "step", "kernel", "part", "on", "produces", "source rows");
    for (Part part : {Part::lesson, Part::variant, Part::faulty})
        for (const Kernel& k : kernels())
            if (k.backend != "cuda" && k.part == part)
                printf(line, k.step.c_str(), k.name.c_str(), name_of(k), place_of(k), name_of(k.expected.what), k.row.c_str());
}

// What the options ask for, of one back end.
std::vector<Contender> select(const std::string& backend, const Options& options)
{
    std::vector<Contender> selected;
    for (const Kernel& k : kernels()) {
        if (k.backend != backend) continue;
        const bool named = std::any_of(options.kernels.begin(), options.kernels.end(), [&](const std::string& n) { return goes_by(k, n); });
        const bool wanted = !options.kernels.empty() ? named : k.part == Part::lesson || (options.all && k.part == Part::variant);
        if (!wanted || (!options.blocks.empty() && !k.block.x)) continue;
        if (options.blocks.empty()) selected.push_back(contender(k, k.block));
        for (const Block& block : options.blocks) selected.push_back(contender(k, block));
    }
    return selected;
}

// Throws bad input if the options name a kernel that the program does not have, or no block applies.
void check_names(const Options& options)
{
    std::string known, with_blocks;
    for (const Kernel& k : kernels()) {
        if (k.backend == "cuda" || k.part == Part::faulty) continue;
        known += (known.empty() ? "" : ", ") + k.name;
        if (k.block.x) with_blocks += (with_blocks.empty() ? "" : ", ") + k.name;
    }
    for (const std::string& name : options.kernels)
        if (std::none_of(kernels().begin(), kernels().end(), [&](const Kernel& k) { return goes_by(k, name); }))
            throw Error{status_bad_input, "--kernel " + name + ": expected one of " + known};
    for (const std::string& name : options.kernels) {
        const auto takes_blocks = [&](const Kernel& k) { return goes_by(k, name) && k.block.x; };
        if (!options.blocks.empty() && !with_blocks.empty() && std::none_of(kernels().begin(), kernels().end(), takes_blocks))
            throw Error{status_bad_input, "--block: does not apply to " + name + ", but to " + with_blocks};
    }
    if (!options.blocks.empty() && select("sim", options).empty())
        throw Error{status_bad_input, "--block: applies to " + (with_blocks.empty() ? "no kernel of this program" : with_blocks + ": name one with --kernel, or add --all")};
}

// Those whose matrices are of one layout, group by group.
std::vector<std::vector<Contender*>> by_layout(std::vector<Contender>& contenders)
{
    std::vector<std::vector<Contender*>> groups;
    for (Contender& c : contenders) {
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Contender*>& g) {
            return Bench::same_layout(g.front()->expected(), c.expected());
        });
        if (group == groups.end()) groups.push_back({&c});
        else group->push_back(&c);
    }
    return groups;
}

// Writes the requests of one kernel that was found right; says first how much that will be.
void trace(Bench& bench, Contender& c, const Results& results, WholeFile& file, const Options& options, Progress& progress)
{
    const std::string begin = trace_begin(results, c.result);
    uint64_t requests = 0;
    for (const AccessSite& site : c.result.counts->sites) requests += site.requests;
    const uint64_t bytes = trace_bytes(begin, requests);
    if (bytes / 2 > file.room())
        throw Error{status_bad_input, format("--trace %s: the %llu requests of %s take about %s, and the disk has room for %s: choose a smaller matrix", options.trace.c_str(),
                                             (unsigned long long)requests, c.result.kernel.c_str(), size_text(bytes).c_str(), size_text(file.room()).c_str())};
    progress.clear();
    printf("--trace %s: %s%s: %llu requests, about %s\n", options.trace.c_str(), c.result.kernel.c_str(), c.result.label.c_str(), (unsigned long long)requests, size_text(bytes).c_str());
    fflush(stdout);
    bench.trace(c, [&](const TracedRequest& request) { file.append(trace_line(begin, request)); });
    file.check();
}

// Verifies and times, or counts, all contenders on one matrix shape. `traced`: where their requests go, or null.
Results run_shape(Device& device, std::vector<Contender> contenders, Shape shape, const Options& options, const Complain& complain, Progress& progress, WholeFile* traced = nullptr)
{
    Results results{device.info(), options.type, shape.width, shape.height, 0, {}};
    if (!device.info().copy.empty()) contenders.insert(contenders.begin(), copy_contender(device));
    const int reps = options.reps ? options.reps : device.has_clock() ? clock_samples : 1;

    // Those of one layout share their memory, and take turns.
    for (const std::vector<Contender*>& group : by_layout(contenders)) {
        Expected layout = group.front()->expected();
        layout.finite = std::any_of(group.begin(), group.end(), [](const Contender* c) { return c->expected().finite; });
        Bench bench(device, options.type, shape, layout, progress);
        for (Contender* member : group) {
            Contender& c = *member;
            bench.verify(c, device.has_clock() ? 1 : reps, options.explain, complain);
            if (!options.print || !c.kernel || !c.result.refused.empty()) continue;
            progress.clear();
            printf("\nidata, each element as its number:\n%s\nodata after %s:\n%s", bench.print_input().c_str(), c.result.kernel.c_str(), bench.print_output(c).c_str());
        }
        check_distinct(group, complain);
        if (traced)
            for (Contender* c : group)
                if (c->result.right && c->result.counts) trace(bench, *c, results, *traced, options, progress);
        if (device.has_clock() && !options.once) bench.measure(group, reps, options.one_launch, complain);
        for (const Contender* c : group)
            if (c->kernel && c->kernel->peer) c->kernel->peer->release();
    }
    for (const Contender& c : contenders) {
        if (!c.result.refused.empty()) complain(c.result.kernel, c.result.refused);
        if (!c.kernel && c.result.timing) results.copy_gbs = c.result.timing->gbs;
        results.rows.push_back(c.result);
    }
    return results;
}

// Beside GPU timings: the simulator's account of the same kernels. A matrix too large to simulate
// in a moment is replaced by one as wide and high as can be, which has the same rows' alignment.
bool explain_on_simulator(Shape timed, const Machine& machine, const Options& options, const Complain& complain, Progress& progress)
{
    constexpr int most_side = 2048;
    std::string remark;
    const std::unique_ptr<Device> device = open_device("sim", machine, remark);
    const auto smaller = [&](int side) { return side <= most_side ? side : most_side + side % 32; };
    const Shape shape{smaller(timed.width), smaller(timed.height)};
    Options once = options;
    once.reps = 1;
    const Results results = run_shape(*device, select("sim", options), shape, once, complain, progress);
    progress.clear();
    printf("\nCounted on the simulator of the %s, %d rows x %d columns:\n", machine.label.c_str(), shape.height, shape.width);
    bool right = true;
    for (const Result& r : results.rows) {
        right = right && (r.right || !r.refused.empty());
        if (r.counts) printf("%s", explanation(r.kernel + r.label, *r.counts).c_str());
    }
    return right;
}

// What one device has to say of one shape.
void print(const Results& results, const Machine& machine, const Options& options)
{
    const bool counted = results.device.copy.empty();
    printf("\n%s", table(results).c_str());
    for (const Result& r : results.rows)
        if (r.timing && r.timing->gbs == 0)
            printf("\n%s: %.2f us for each launch of a series; the first launch of this program took %.0f ms, set-up included.\n",
                   r.kernel.c_str(), 1e3 * r.timing->ms.median, results.device.first_launch_ms);
    for (const Result& r : results.rows)
        if (!r.occupancy.empty()) printf("\n%s: %s\n", (r.kernel + r.label).c_str(), r.occupancy.c_str());
    if (!counted) return;
    printf("\nCounted for the %s. Loads and stores are requests, one per warp and instruction. Cost is the mean per request,\n"
           "in %s of global memory or wavefronts of shared memory. The simulator counts; it does not measure time.\n",
           machine.label.c_str(), machine.major == 1 ? "transactions" : "sectors");
    const std::string model = model_table(results);
    if (!model.empty()) printf("\n%s", model.c_str());
    if (options.explain)
        for (const Result& r : results.rows)
            if (r.counts) printf("%s", explanation(r.kernel + r.label, *r.counts).c_str());
}

// One device's part of a run: every shape, then a summary.
std::vector<Results> run_device(Device& device, const std::vector<Contender>& contenders, const std::vector<Shape>& shapes, const Machine& machine, const Options& options,
                                const Complain& complain, Progress& progress, WholeFile* traced, bool& right)
{
    std::vector<Results> all;
    for (const Shape& shape : shapes) {
        printf("%sidata: %d rows x %d columns of %s, %.1f MB\n", shapes.size() > 1 ? "\n" : "", shape.height, shape.width, name_of(options.type),
               double(shape.width) * shape.height * bytes_of(options.type) / 1e6);
        fflush(stdout);
        all.push_back(run_shape(device, contenders, shape, options, complain, progress, traced));
        progress.clear();
        print(all.back(), machine, options);
        for (const Result& r : all.back().rows) right = right && (r.right || !r.refused.empty());
        if (options.explain && device.info().backend == "cuda") right = explain_on_simulator(shape, machine, options, complain, progress) && right;
        fflush(stdout);
    }
    const std::string sweep = all.size() > 1 ? sweep_table(all) : "";
    if (!sweep.empty()) printf("\nEffective bandwidth by size of the matrix, on %s:\n\n%s", device.info().machine.c_str(), sweep.c_str());
    return all;
}

int run(const Options& options, const char* program)
{
    std::string remark;
    const Machine& machine = machine_named(options.machine);
    seed_of_inputs() = options.seed;
    check_names(options);
    for (Kernel& k : kernels())
        if (k.gpus && options.gpus) k.gpus = options.gpus;
    const std::unique_ptr<Device> device = open_device(options.device, machine, remark);
    if (options.one_launch && !device->has_clock())
        throw Error{status_bad_input, "--one-launch: times passes inside one launch, and the simulator has no clock"};
    if (!options.trace.empty()) device->trace_to(nullptr);
    std::optional<WholeFile> file, trace;
    if (!options.csv.empty()) file.emplace("--csv", options.csv);
    if (!options.trace.empty()) trace.emplace("--trace", options.trace);
    refuse_one_place(file ? &*file : nullptr, trace ? &*trace : nullptr);
    if (options.peak_gbs > 0) device->override_peak(options.peak_gbs);

    std::vector<Shape> shapes = options.shapes;
    if (shapes.empty()) {
        const int side = default_side(*device, options.type);
        shapes.push_back({side, side});
    }
    // The GPU's kernels on the device asked for, and functions of the CPU there.
    std::vector<Contender> on_device = select(device->info().backend, options), on_cpu = select("cpu", options);
    std::string unused;
    const std::unique_ptr<Device> cpu = on_cpu.empty() ? nullptr : open_device("cpu", machine, unused);
    std::vector<std::pair<Device*, std::vector<Contender>*>> parts;
    if (!on_device.empty()) parts.push_back({device.get(), &on_device});
    if (!on_cpu.empty()) parts.push_back({cpu.get(), &on_cpu});
    if (trace && on_device.empty())
        throw Error{status_bad_input, format("--trace: %s runs on the CPU, where no request is seen: name a kernel of the GPU", options.kernels.front().c_str())};
    // What does not fit is refused before the rest has taken its time.
    for (const auto& [d, contenders] : parts)
        for (const std::vector<Contender*>& group : by_layout(*contenders))
            for (const Shape& shape : shapes) require_room(*d, options.type, shape, group.front()->expected());
    if (parts.empty())
        throw Error{status_bad_input, format("--kernel %s: not for the %s", options.kernels.front().c_str(), device->has_clock() ? "GPU" : "simulator: it needs a GPU")};

    Progress progress(program);
    const Complain complain = [&](const std::string& kernel, const std::string& what) {
        progress.clear();
        fflush(stdout);
        fprintf(stderr, "%s: %s: %s\n", program, kernel.c_str(), what.c_str());
    };
    bool right = true;
    if (trace) trace->append(trace_heading());
    std::vector<Results> all;
    for (const auto& [d, contenders] : parts) {
        printf("%s%s on %s%s\n", d == parts.front().first ? "" : "\n", program, d->info().description.c_str(),
               d == cpu.get() || remark.empty() ? "" : (": " + remark).c_str());
        const std::vector<Results> results = run_device(*d, *contenders, shapes, machine, options, complain, progress, trace && d == device.get() ? &*trace : nullptr, right);
        all.insert(all.end(), results.begin(), results.end());
    }
    if (!right) {
        for (const auto& [option, path] : {std::pair{"--csv", options.csv}, {"--trace", options.trace}})
            if (!path.empty()) fprintf(stderr, "%s: %s %s: not written, because of the errors above\n", program, option, path.c_str());
        return status_wrong_result;
    }
    const auto ran = [](const Results& results) {
        return std::any_of(results.rows.begin(), results.rows.end(), [&](const Result& r) { return r.refused.empty() && r.kernel != results.device.copy; });
    };
    if (std::none_of(all.begin(), all.end(), ran)) return status_bad_input;  // every kernel was refused, and said why
    // Both, or none.
    if (file) file->append(csv(all));
    for (auto* written : {&trace, &file})
        if (*written) (*written)->check();
    for (auto* written : {&trace, &file})
        if (*written) (*written)->commit();
    return status_ok;
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv)
{
    using namespace harness;
    const char* slash = std::strrchr(argv[0], '/');
    const char* program = slash ? slash + 1 : argv[0];
    keep_standard_files();
    try {
        const Options options = parse_options(argc, argv);
        int status = status_ok;
        if (options.help) printf("%s", usage(program).c_str());
        else if (options.list) list();
        else if (options.list_machines) {
            printf("%s", list_machines().c_str());
            if (!options.csv.empty()) {
                WholeFile file("--csv", options.csv);
                file.append(machines_csv());
                file.commit();
            }
        }
        else if (options.errata) status = run_errata(options.kernels, machine_named(options.machine), program) ? status_ok : status_wrong_result;
        else status = run(options, program);
        if (fflush(stdout) || ferror(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
        return status;
    } catch (const Error& error) {
        fflush(stdout);
        fprintf(stderr, "%s: %s\n", program, printable(error.message).c_str());
        return error.status;
    } catch (const std::bad_alloc&) {
        fprintf(stderr, "%s: out of memory on the host\n", program);
        return status_bad_input;
    }
}
