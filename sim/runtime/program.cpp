// From before main to after exit.

#include "program.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "../../common/base/commit.h"
#include "../../common/base/csv.h"
#include "../../common/base/error.h"
#include "../../common/base/explain.h"
#include "../../common/base/files.h"
#include "../../common/base/progress.h"
#include "../../common/base/trace.h"
#include "../core/places.h"
#include "../core/simulator.h"
#include "../core/symbols.h"
#include "../core/thread.h"
#include "devices.h"
#include "runtime.h"
#include "timeline.h"
#include "traffic.h"

namespace sim {
namespace {

using namespace harness;

// All launches of one kernel in one shape.
struct Launches {
    std::string name;
    dim3 grid, block;
    size_t dynamic_bytes;
    LaunchCounts counts = {};  // sums over the launches; a number that is no sum is that of the last launch
};

struct Program {
    ProgramOptions options;
    const Machine* machine = nullptr;
    std::unique_ptr<WholeFile> csv, trace;
    std::string trace_begin;  // of the lines of the launch that runs
    TraceSink trace_sink;
    pid_t process = 0;
    std::vector<Launches> kernels;  // in the order of the first launches
    struct Said {
        std::string key, text;
        uint64_t count;
    };
    std::vector<Said> findings;
    std::vector<std::string> notes;
    uint64_t launches = 0;
    Work work;            // the launch that runs
    uint64_t window = 0;  // its first
    std::unique_ptr<Progress> progress;
    std::string running;                          // the title of the launch that runs, for progress
    std::chrono::steady_clock::time_point begun;  // that launch
    std::atomic<bool> told{false};                // how far it is
    std::set<std::string> told_of;                // kernels
    bool finished = false;
};

Program& program()
{
    static Program& program = *new Program;  // used until the very end
    return program;
}

std::string text_of(dim3 d) { return d.y * d.z == 1 ? std::to_string(d.x) : d.z == 1 ? format("(%u, %u)", d.x, d.y) : format("(%u, %u, %u)", d.x, d.y, d.z); }

std::string title(const Launches& l, bool launches = true)
{
    return l.name + "<<<" + text_of(l.grid) + ", " + text_of(l.block) + (l.dynamic_bytes ? ", " + std::to_string(l.dynamic_bytes) : "") + ">>>" + (launches ? " x " + std::to_string(l.counts.launched.launches) : "");
}

uint64_t blocks_of(dim3 grid) { return uint64_t(grid.x) * grid.y * grid.z; }

// Behind a title where some blocks did not run.
std::string sample_text(const Launches& l)
{
    const Launched& ran = l.counts.launched;
    const uint64_t all = ran.launches * blocks_of(l.grid);
    return !program().options.blocks || ran.blocks == all
               ? ""
               : format(", of a sample: %llu of %llu blocks", (unsigned long long)ran.blocks, (unsigned long long)all);
}

bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void add(LaunchCounts& sum, const LaunchCounts& more)
{
    std::vector<AccessSite> sites = std::move(sum.sites);
    for (const AccessSite& site : more.sites) {
        const auto known = std::find_if(sites.begin(), sites.end(), [&](const AccessSite& s) { return s.same_access(site); });
        if (known == sites.end()) {
            sites.push_back(site);
            continue;
        }
        if (site.worst > known->worst) known->conflict = site.conflict;
        known->add(site);
    }
    Launched launched = sum.launched;
    launched.add(more.launched);
    sum = more;
    sum.sites = std::move(sites);
    sum.launched = launched;
}

// The error that CUDA has for what a thread did; cudaSuccess where a kernel goes on after it.
cudaError_t error_of(const Finding& f)
{
    switch (f.fault) {
        case Fault::out_of_bounds_load:
        case Fault::out_of_bounds_store:
        case Fault::use_after_free:
        case Fault::no_peer_access:
        case Fault::host_memory: return cudaErrorIllegalAddress;
        case Fault::misaligned: return cudaErrorMisalignedAddress;
        case Fault::stack_overflow: return cudaErrorHardwareStackError;
        case Fault::endless_loop: return cudaErrorLaunchTimeout;
        case Fault::failed: return f.text.find("ssert") != std::string::npos ? cudaErrorAssert : cudaErrorLaunchFailure;
        default: return cudaSuccess;
    }
}

std::string duration_text(double seconds)
{
    return seconds < 90        ? format("%.0f s", seconds)
           : seconds < 90 * 60 ? format("%.0f min", seconds / 60)
                               : format("%.1f h", seconds / 3600);
}

// Says once of each kernel how long it will take, if that is long. `told` keeps other host threads and later
// blocks out.
void block_done(uint64_t done, uint64_t blocks)
{
    Program& p = program();
    if (p.told.load(std::memory_order_relaxed)) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - p.begun).count();
    if (seconds < p.options.patience || done == blocks || p.told.exchange(true)) return;
    if (p.progress) p.progress->clear();
    fprintf(stderr, "%s: %s: %llu of %llu blocks done in %s, about %s left; Ctrl-C ends the program with a report%s\n",
            program_invocation_short_name, p.running.c_str(), (unsigned long long)done, (unsigned long long)blocks,
            duration_text(seconds).c_str(), duration_text(seconds * double(blocks - done) / double(done)).c_str(),
            p.options.blocks ? "" : ", SIM='--blocks 64' runs a sample of 64 blocks of each launch");
    if (p.progress) p.progress->doing(format("launch %llu: %s", (unsigned long long)p.launches + 1, p.running.c_str()));
}

// One launch at a time, from its begin to its end.
bool begin_launch(const Launching& launching, dim3&)
{
    if (in_kernel()) fail("a kernel launches a kernel, which is not simulated", launching.place);
    const NoWayOut no_way_out;
    runtime_mutex().lock();
    if (!may_launch(launching)) {
        runtime_mutex().unlock();
        return false;
    }
    Program& p = program();
    use_machine(*p.machine);
    use_exact_checks(p.options.threads <= 1);
    use_sample(uint64_t(p.options.blocks));
    const Configuration& c = launching.configuration;
    use_device(current_device(), device_count() > 1, peers_of(current_device()));
    use_variables_of(current_device());
    p.work = timeline().begin_work(queue_of(static_cast<cudaStream_t>(c.stream)), uint64_t(c.grid.x) * c.grid.y * c.grid.z, name_of(launching), launching.place, true);
    const Clock& clock = timeline().clock_of(p.work.queue);
    p.window = clock.window;
    use_beside(timeline().beside(p.work, clock));
    if (p.trace) {
        p.trace_begin = trace_begin({p.machine->label, name_of(launching), std::to_string(p.launches + 1)});
        use_trace(&p.trace_sink);
    }
    if (host_threads() != p.options.threads) set_host_threads(p.options.threads);
    open_device_memory();
    if (!p.progress && isatty(STDERR_FILENO)) p.progress = std::make_unique<Progress>(program_invocation_short_name);
    p.running = title({name_of(launching), c.grid, c.block, c.shared_bytes}, false);
    p.begun = std::chrono::steady_clock::now();
    p.told = p.options.silent || p.told_of.count(name_of(launching));
    if (p.progress) p.progress->doing(format("launch %llu: %s", (unsigned long long)p.launches + 1, p.running.c_str()));
    set_running(true);
    return true;
}

void end_launch(const Launching& launching)
{
    const NoWayOut no_way_out;
    kernel_stopped();
    if (program().told) program().told_of.insert(name_of(launching));
    if (program().progress) program().progress->clear();
    close_device_memory();
    const Report report = take_report();
    const LaunchCounts counts = counts_of(report, *program().machine, true);
    timeline().end_work(program().work, (program().work.blocks + report.resident_blocks - 1) / report.resident_blocks);
    note_peers(current_device(), program().window, report.peers);
    cudaError_t error = cudaSuccess;
    for (const Finding& f : report.findings) {
        // From launch to launch, the same fault at the same lines is one finding.
        const std::string key = format("%s %d %u %u ", name_of(launching), int(f.fault), place_number(return_address(f.first)), f.second ? place_number(return_address(f.second)) : 0);
        program_finding(std::string(name_of(launching)) + ": " + finding_text(f, report.grid, report.block), f.count, key + f.memory + f.text);
        if (error == cudaSuccess) error = error_of(f);
    }
    program_launch_finished(launching, counts);
    if (error != cudaSuccess) kernel_failed(launching, error);
    runtime_mutex().unlock();
    set_running(false);
}

const char* name_of_access(bool store, bool atomic) { return atomic ? "atomic" : store ? "store" : "load"; }

// A line for each access of each kernel and shape: all launches together.
std::string csv_text()
{
    const std::string date = utc_now();
    std::string text = csv_line({"date_utc", "commit", "machine", "program", "kernel", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "dynamic_shared_bytes",
                                "shared_bytes_per_block", "launches", "blocks_run", "file", "line", "access", "memory", "element_bytes", "requests", "accesses", "unit", "units",
                                "ideal_units", "worst_request", "bytes_moved", "bytes_asked"});
    const auto n = [](uint64_t value) { return std::to_string(value); };
    for (const Launches& l : program().kernels)
        for (const AccessSite& s : l.counts.sites)
            text += csv_line({date, harness::build_commit, program().machine->label, program_invocation_short_name, l.name, n(l.grid.x), n(l.grid.y), n(l.grid.z), n(l.block.x), n(l.block.y),
                             n(l.block.z), n(l.dynamic_bytes), n(l.counts.shared_bytes), n(l.counts.launched.launches), n(l.counts.launched.blocks), s.file, n(uint64_t(s.line)), name_of_access(s.store, s.atomic),
                             memory_name(s), n(s.element_bytes), n(s.requests), n(s.accesses), s.unit, n(s.units), n(s.ideal), n(uint64_t(s.worst)), n(s.bytes), n(s.asked)});
    return text;
}

std::string counted(uint64_t n, const char* what) { return format("%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s"); }

void print_findings()
{
    for (const auto& finding : program().findings)
        printf("finding: %s%s\n", finding.text.c_str(), finding.count > 1 ? format(" (%llu times)", (unsigned long long)finding.count).c_str() : "");
}

void print_report()
{
    const Program& p = program();
    if (p.options.silent) {
        print_findings();
        return;
    }
    printf("\nSimulated: %s (compute capability %d.%d). Counts are sums over the launches of a kernel. The simulator measures no time.\n", p.machine->label.c_str(), p.machine->major, p.machine->minor);
    if (p.options.blocks)
        printf("A sample: no more than %s of each launch ran, so the program's results are not right. "
               "There was no search for uninitialized loads.\n", counted(uint64_t(p.options.blocks), "block").c_str());
    std::set<std::string> names;
    for (const Launches& l : p.kernels) {
        names.insert(l.name);
        if (p.options.quiet) continue;
        printf("%s", explanation(title(l) + sample_text(l), l.counts).c_str());
        if (l.counts.sites.empty()) printf("  no access to global or shared memory\n");
    }
    if (!p.options.quiet) printf("%s", traffic_text().c_str());
    if (!p.kernels.empty() && !p.options.quiet) printf("\n");
    for (const std::string& note : p.notes) printf("note: %s\n", note.c_str());
    print_findings();
    printf("try: %s, %s, %s\n", counted(names.size(), "kernel").c_str(), format("%llu launch%s", (unsigned long long)p.launches, p.launches == 1 ? "" : "es").c_str(), counted(p.findings.size(), "finding").c_str());
}

void write_files(int signal)
{
    Program& p = program();
    const std::unique_ptr<WholeFile> csv = std::move(p.csv), trace = std::move(p.trace);
    for (const auto& [file, option, path] : {std::tuple{csv.get(), "--csv", &p.options.csv}, {trace.get(), "--trace", &p.options.trace}})
        if (file && signal)
            fprintf(stderr, "%s: %s %s: not written: the program was ended by a signal (%s)\n", program_invocation_short_name, option, path->c_str(), strsignal(signal));
    if (signal) return;
    // Both, or none.
    if (csv) csv->append(csv_text());
    for (WholeFile* file : {trace.get(), csv.get()})
        if (file) file->check();
    for (WholeFile* file : {trace.get(), csv.get()})
        if (file) file->commit();
}

void at_exit(int status, void*)
{
    if (getpid() != program().process) return;  // a child's end is not the program's
    const int own = finish_program(status);
    _exit(own);
}

// Before main, and before any variable of the program is initialized.
__attribute__((constructor(101))) void begin_program()
{
    const NoWayOut no_way_out;
    Program& p = program();
    p.process = getpid();
    keep_standard_files();
    try {
        need_symbols();
        const char* text = std::getenv("SIM_OPTIONS");
        p.options = parse_program_options(text ? text : "");
        p.machine = &machine_named(p.options.machine);
        if (!p.options.csv.empty()) p.csv = std::make_unique<WholeFile>("--csv", p.options.csv);
        if (!p.options.trace.empty()) p.trace = std::make_unique<WholeFile>("--trace", p.options.trace);
        refuse_one_place(p.csv.get(), p.trace.get());
        if (p.trace) p.trace->append(std::string("machine,kernel,launch,block_x,block_y,block_z,") + trace_columns);
        p.trace_sink = [](const TracedRequest& request) { program().trace->append(trace_line(program().trace_begin, 3, request)); };
    } catch (const Error& error) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, printable(error.message).c_str());
        _exit(error.status);
    }
    // What is there before at_exit is there still when the program's own variables are destroyed, and after.
    memory();
    place_of(uint64_t(SIM_PLACE));
    host_threads();
    launch_hooks().begins = begin_launch;
    launch_hooks().ended = end_launch;
    launch_hooks().block_done = block_done;
    catch_host_faults();
    on_exit(at_exit, nullptr);
}

}  // namespace

const harness::Machine& machine() { return *program().machine; }

ProgramOptions& program_options() { return program().options; }

void program_finding(const std::string& text, uint64_t count, const std::string& key)
{
    const RuntimeLock lock;
    for (auto& known : program().findings)
        if (known.key == (key.empty() ? text : key)) {
            known.count += count;
            return;
        }
    program().findings.push_back({key.empty() ? text : key, text, count});
}

void program_note(const std::string& text)
{
    const RuntimeLock lock;
    std::vector<std::string>& notes = program().notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
}

void program_launch_finished(const Launching& launching, const harness::LaunchCounts& counts)
{
    Program& p = program();
    const Configuration& c = launching.configuration;
    const std::string name = name_of(launching);
    ++p.launches;
    auto known = std::find_if(p.kernels.begin(), p.kernels.end(), [&](const Launches& l) {
        return l.name == name && same(l.grid, c.grid) && same(l.block, c.block) && l.dynamic_bytes == c.shared_bytes;
    });
    if (known == p.kernels.end()) known = p.kernels.insert(known, {name, c.grid, c.block, c.shared_bytes});
    if (p.options.threads > 1) program_note("no search for races and uninitialized loads in global memory: it needs one host thread; remove --threads");
    add(known->counts, counts);
}

int finish_program(int status, int signal)
{
    const NoWayOut no_way_out;
    Program& p = program();
    if (p.finished) return status;
    p.finished = true;
    note_accounts();
    for (const std::string& launch : refused_launches()) program_note(launch);
    for (const std::string& error : unseen_errors()) program_finding(error);
    for (const std::string& message : lone_messages()) program_finding(message);
    // A program that was stopped could not free its memory.
    if (status == status_ok && !context_lost())
        for (const std::string& memory : never_freed()) program_finding(memory);
    fflush(stdout);
    print_report();
    int own = status == status_ok && !p.findings.empty() ? int(status_wrong_result) : status;
    fflush(stdout);
    try {
        write_files(signal);
        if (ferror(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
    } catch (const Error& error) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, printable(error.message).c_str());
        if (own == status_ok) own = error.status;
    }
    fflush(nullptr);
    return own;
}

}  // namespace sim

extern "C" void sim_quiet_report() { sim::program_options().silent = true; }
