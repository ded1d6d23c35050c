// In: the options. Out: tables on the terminal, files, and an exit status. The device and the files are opened, and
// every matrix is checked for room, before the first kernel runs. Then each device verifies, and times or counts, its
// kernels on one shape after another. The files get their places at the end.

#include "run.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "account.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/explain.h"
#include "base/files.h"
#include "base/page.h"
#include "base/finding_kinds.h"
#include "one_shape.h"
#include "processes.h"
#include "results_csv.h"
#include "run_page.h"
#include "select.h"
#include "tables.h"
#include "trace_lines.h"

namespace harness {
namespace {

// The files of a run, each with the option that named it. They are opened before the work, so that a path that cannot
// be written costs no results.
struct Files {
    std::optional<WholeFile> csv, trace, json, page;
    RunPage drawn;  // what the page will have
};

void open_files(Files& files, const Options& options)
{
    if (!options.csv.empty()) files.csv.emplace("--csv", options.csv);
    if (!options.trace.empty()) files.trace.emplace("--trace", options.trace);
    if (!options.json.empty()) files.json.emplace("--json", options.json);
    if (!options.page.empty()) files.page.emplace("--page", options.page);
    const auto pointer = [](const std::optional<WholeFile>& file) { return file ? &*file : nullptr; };
    refuse_one_place(pointer(files.csv), pointer(files.trace));
    refuse_one_place(pointer(files.csv), pointer(files.json));
    for (const auto* other : {&files.csv, &files.trace, &files.json})
        refuse_one_place(pointer(*other), pointer(files.page));
    refuse_one_place(pointer(files.trace), pointer(files.json));
}

// A device, what runs there, and where requests are traced to.
struct DeviceRun {
    std::unique_ptr<Device> device;
    std::vector<Contender> contenders;
    std::string remark;           // why it is not the device that was hoped for
    WholeFile* traced = nullptr;  // null: nowhere
};

// The settings of a run, which do not change.
struct Setting {
    std::string program;
    const Machine& machine;  // that the simulator runs for
    Selection selection;
    Task task;
    std::string against;  // the record that the page compares with; empty: none
    std::string date = utc_now();
};

Task task_of(const Options& options)
{
    Task task;
    task.type = options.type;
    task.reps = options.reps;
    task.explain = options.explain;
    task.print = options.print;
    task.once = options.once;
    task.one_launch = options.one_launch;
    task.link = options.link;
    task.drawn = !options.page.empty();
    return task;
}

// Opens the device. Throws status_bad_input if the options ask for something that it does not have.
std::unique_ptr<Device> open_asked(const Options& options, const Machine& machine, std::string& remark)
{
    Wanted wanted(machine, options.gpus, options.patience_s);
    wanted.separate_host = options.separate_host;
    std::unique_ptr<Device> device = open_device(options.device, wanted, remark);
    if (options.separate_host && device->has_clock()) refuse("--separate-host: only the simulator has it");
    if (any_on_parts() && world().ranks > 1 && !device->has_clock())
        refuse("the simulator runs all GPUs in one process: start it without mpirun" +
               (remark.empty() ? "" : "; " + remark));
    if (options.one_launch && !device->has_clock())
        refuse("--one-launch: times passes inside one launch, and the simulator has no clock");
    if (!options.page.empty() && !device->info().simulated)
        throw Error{status_bad_input, "--page: the simulator alone sees every request; add --device sim"};
    if (!options.trace.empty() && !device->info().simulated)
        throw Error{status_bad_input, "--trace: the simulator alone sees every request; add --device sim"};
    return device;
}

std::vector<Shape> shapes_of(const std::vector<Shape>& asked, Device& device, Type type)
{
    if (!asked.empty()) return asked;
    const int side = default_side(device, type);
    return {{side, side}};
}

// One run for the kernels on the device asked for, and one for functions of the CPU, each only if it has contenders.
std::vector<DeviceRun> device_runs(std::unique_ptr<Device> device, const std::string& remark,
                                   const Setting& setting, WholeFile* trace)
{
    std::vector<DeviceRun> runs;
    std::vector<Contender> on_device = select(device->info().backend, setting.selection);
    std::vector<Contender> on_cpu = select("cpu", setting.selection);
    if (trace && on_device.empty())
        refuse("--trace: " + setting.selection.kernels.front() +
               " runs on the CPU, where no request is seen: name a kernel of the GPU");
    if (on_device.empty() && on_cpu.empty())
        refuse(format("--kernel %s: not for the %s", setting.selection.kernels.front().c_str(),
                      device->has_clock() ? "GPU" : "simulator: it needs a GPU"));
    if (!on_device.empty()) runs.push_back({std::move(device), std::move(on_device), remark, trace});
    std::string unused;
    if (!on_cpu.empty())
        runs.push_back({open_device("cpu", setting.machine, unused), std::move(on_cpu), "", nullptr});
    return runs;
}

// Refuses a matrix that does not fit before any other has taken its time.
void require_room(std::vector<DeviceRun>& runs, const std::vector<Shape>& shapes, Type type)
{
    for (DeviceRun& on : runs)
        for (const std::vector<Contender*>& group : by_layout(on.contenders))
            for (const Shape& shape : shapes) require_room(*on.device, type, shape, group.front()->expected());
}

bool all_right(const Results& results)
{
    return std::all_of(results.rows.begin(), results.rows.end(),
                       [](const Result& r) { return r.right || !r.refused.empty(); });
}

bool any_ran(const Results& results)
{
    return std::any_of(results.rows.begin(), results.rows.end(),
                       [&](const Result& r) { return r.refused.empty() && r.kernel != results.device.copy; });
}

std::string explanations(const Results& results)
{
    std::string text;
    for (const Result& r : results.rows)
        if (r.counts) {
            text += explanation(r.kernel + r.label, *r.counts);
            if (r.counts->between.picture.empty()) continue;
            text += "\n  " + r.kernel +
                    ": to whom each GPU's data goes, from the first blocks to the last (*: to no GPU more than half)\n";
            text += receivers_text(r.counts->between);
        }
    return text;
}

// The heading of one shape.
std::string shape_text(Shape shape, Type type)
{
    const uint64_t bytes = uint64_t(shape.width) * shape.height * bytes_of(type);
    const auto counted = [](int n, const char* what) { return format("%d %s%s", n, what, n == 1 ? "" : "s"); };
    return format("idata: %dx%d (%s of %s) of type %s, %s\n", shape.width, shape.height,
                  counted(shape.height, "row").c_str(), counted(shape.width, "element").c_str(), name_of(type),
                  size_text(bytes).c_str());
}

// The tables of one shape, and with `explain` what each access costs.
std::string results_text(const Results& results, const Machine& machine, bool explain)
{
    std::string text = "\n" + table(results);
    for (const Result& r : results.rows)
        if (r.timing && r.timing->gbs == 0 && !r.gpus)
            text += format(
                "\n%s: %.2f us for each launch of a series; the first launch of this program took "
                "%.0f ms, set-up included.\n",
                r.kernel.c_str(), 1e3 * r.timing->ms.median, results.device.first_launch_ms);
    for (const Result& r : results.rows)
        if (!r.occupancy.empty()) text += format("\n%s: %s\n", (r.kernel + r.label).c_str(), r.occupancy.c_str());
    if (results.device.backend != "sim") return text;
    text += format(
        "\nCounted for the %s. Loads and stores are requests, one per warp and instruction. Cost is the mean "
        "per request,\n"
        "in %s of global memory or wavefronts of shared memory. The simulator counts; it does not measure time.\n",
        machine.label.c_str(), machine.major == 1 ? "transactions" : "sectors");
    const auto starred = [](const Result& r) {
        return r.counts && r.counts->map_assumed && (r.counts->busiest(false) > 0 || r.counts->busiest(true) > 0);
    };
    if (std::any_of(results.rows.begin(), results.rows.end(), starred))
        text += "* Which address lies in which memory partition is not published for this machine. It is assumed.\n";
    const std::string between = between_table(results);
    if (!between.empty())
        text += "\n" + between +
                "\nMB cross: in sectors of 32 bytes. Busiest receiver: of all GPUs, while blocks run together, over "
                "the mean.\nModel ms: of the link's bandwidth and latency. It is not a measurement.\n";
    const std::string model = model_table(results);
    if (!model.empty()) text += "\n" + model;
    return explain ? text + explanations(results) : text;
}

// Next to GPU timings: the simulator's counts of the same kernels. A matrix that takes too long to simulate is replaced
// by one as wide and tall as can be, whose rows are aligned alike. True if all results are right.
bool explain_on_simulator(Shape timed, const Setting& setting, const Listeners& to)
{
    constexpr int most_side = 2048;
    std::string remark;
    const std::unique_ptr<Device> device = open_device("sim", setting.machine, remark);
    const auto smaller = [&](int side) { return side <= most_side ? side : most_side + side % 32; };
    const Shape shape{smaller(timed.width), smaller(timed.height)};
    Task once = setting.task;
    once.reps = 1;
    const Results results =
        run_shape(*device, select("sim", setting.selection), shape, once, {to.complain, to.progress, nullptr, nullptr});
    to.progress.clear();
    printf("\nCounted on the simulator of the %s, %dx%d:\n%s",
           setting.machine.label.c_str(), shape.width, shape.height, explanations(results).c_str());
    return all_right(results);
}

// One shape on one device. Prints its results, and writes its line of --json, if there is that file. `right`: becomes
// false if any result is wrong.
Results run_one(const DeviceRun& on, Shape shape, const Setting& setting, Progress& progress, Files& files,
                bool& right)
{
    std::optional<WholeFile>& json = files.json;
    Account account;
    const Complain complain = [&](const std::string& kernel, const Finding& finding) {
        progress.clear();
        fflush(stdout);
        account.findings.push_back(finding);
        account.findings.back().kernel = kernel;
        if (world().rank) return;  // the first process speaks for all
        fprintf(stderr, "%s: %s\n", setting.program.c_str(), message_of(account.findings.back()).c_str());
    };
    const Listeners listeners{complain, progress, on.traced, &account};
    const std::string heading = shape_text(shape, setting.task.type);
    printf("%s", heading.c_str());
    fflush(stdout);
    const LineHead told{setting.program, setting.date, setting.task.explain};
    Results results{on.device->info(), setting.task.type, shape.width, shape.height, 0, {}};
    const auto give_up = [&](const Finding& why) {
        account.findings.push_back(why);
        if (json) json->append(json_line(results, account, heading, told));
        if (json) json->commit();
    };
    try {
        results = run_shape(*on.device, on.contenders, shape, setting.task, listeners);
    } catch (const FindingError& error) {
        give_up(error.finding);
        throw;
    } catch (const Error& error) {
        if (error.status == status_wrong_result) give_up({kinds::failed_run, error.message});
        throw;
    }
    progress.clear();
    const std::string text = results_text(results, setting.machine, setting.task.explain);
    printf("%s", text.c_str());
    right = right && all_right(results);
    if (json) {
        json->append(json_line(results, account, heading + text, told));
        json->check();
    }
    if (files.page) files.drawn.add(results, account, told);
    const bool also_simulated = setting.task.explain && on.device->info().backend == "cuda";
    if (also_simulated && !explain_on_simulator(shape, setting, listeners)) right = false;
    fflush(stdout);
    return results;
}

// One device's part of a run: every shape, then a summary.
std::vector<Results> run_shapes(const DeviceRun& on, const std::vector<Shape>& shapes, const Setting& setting,
                               Progress& progress, Files& files, bool& right)
{
    const std::string remark = on.remark.empty() ? "" : " (" + on.remark + ", so no GPU is used)";
    printf("%s on %s%s\n", setting.program.c_str(), on.device->info().description.c_str(), remark.c_str());
    std::vector<Results> all;
    for (const Shape& shape : shapes) {
        if (shapes.size() > 1) printf("\n");
        all.push_back(run_one(on, shape, setting, progress, files, right));
    }
    const std::string sweep = all.size() > 1 ? sweep_table(all) : "";
    const std::string& machine = on.device->info().machine;
    if (!sweep.empty())
        printf("\nEffective bandwidth by size of the matrix, on %s:\n\n%s", machine.c_str(), sweep.c_str());
    return all;
}

// Gives the files their places: both of --csv and --trace, or neither. --json tells of wrong results, too.
int finish(Files& files, const std::vector<Results>& all, bool right, const Setting& setting)
{
    if (files.page) files.page->append(files.drawn.html(setting.program, setting.machine, setting.against));
    if (files.page) files.page->commit();
    if (files.json) files.json->commit();
    if (!right) {
        for (const auto& [option, file] : {std::pair{"--csv", &files.csv}, {"--trace", &files.trace}})
            if (*file)
                fprintf(stderr, "%s: %s %s: not written, because of the errors above\n",
                        setting.program.c_str(), option, printable((*file)->path()).c_str());
        return status_wrong_result;
    }
    if (std::none_of(all.begin(), all.end(), any_ran))
        return status_bad_input;  // every kernel was refused, and said why
    if (files.csv) files.csv->append(csv(all, setting.date));
    for (auto* written : {&files.trace, &files.csv})
        if (*written) (*written)->check();
    for (auto* written : {&files.trace, &files.csv})
        if (*written) (*written)->commit();
    return status_ok;
}

// The GPUs that there are, or --gpus, count for the whole program.
void use_gpus(int gpus)
{
    for (Kernel& k : kernels())
        if (k.gpus && gpus) k.gpus = gpus;
}

// If there are several processes, only the first one prints and writes.
void leave_output_to_the_first(Options& options)
{
    if (!any_on_parts() || world().rank == 0) return;
    options.csv = options.json = options.trace = options.page = "";
    if (!freopen("/dev/null", "w", stdout)) refuse("/dev/null cannot be opened");
}

}  // namespace

int run(const Options& asked, const std::string& program)
{
    Options options = asked;
    if (options.page.empty() && !options.against.empty()) refuse(against_without_page);
    leave_output_to_the_first(options);
    Selection selection{options.kernels, options.all, options.blocks};
    check_names(selection);
    const std::string against = options.against.empty() ? "" : read_record("--against", options.against);
    seed_of_inputs() = options.seed;
    std::string remark;
    std::unique_ptr<Device> device = open_asked(options, *options.machine, remark);
    selection.messages_only = world().ranks > 1 && !device->info().no_peers.empty();
    if (selection.messages_only) printf("Messages alone: %s.\n", device->info().no_peers.c_str());
    const Setting setting{program, *options.machine, selection, task_of(options), against};
    use_gpus(device->info().gpus ? device->info().gpus : options.gpus);
    Files files;
    open_files(files, options);
    if (options.peak_gbs > 0) device->override_peak(options.peak_gbs);
    const std::vector<Shape> shapes = shapes_of(options.shapes, *device, options.type);
    std::vector<DeviceRun> runs =
        device_runs(std::move(device), remark, setting, files.trace ? &*files.trace : nullptr);
    require_room(runs, shapes, options.type);

    Progress progress(program);
    if (files.trace) files.trace->append(trace_heading());
    bool right = true;
    std::vector<Results> all;
    for (const DeviceRun& on : runs) {
        if (&on != &runs.front()) printf("\n");
        const std::vector<Results> results = run_shapes(on, shapes, setting, progress, files, right);
        all.insert(all.end(), results.begin(), results.end());
    }
    return finish(files, all, right, setting);
}

}  // namespace harness
