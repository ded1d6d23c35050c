#include "output_files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>

#include "../../common/base/commit.h"
#include "../../common/base/csv.h"
#include "../../common/base/explain.h"
#include "../../common/base/files.h"
#include "../../common/base/traced_request.h"
#include "../core/simulator.h"
#include "filters.h"
#include "kernels.h"
#include "options.h"

namespace sim {

using harness::AccessSite;
using harness::csv_line;
using harness::WholeFile;

namespace {

struct Files {
    std::unique_ptr<WholeFile> csv, trace;
    std::string trace_begin;  // of the lines of the launch that runs
    harness::TraceSink trace_sink;
};

Files& files()
{
    static Files& files = *new Files;  // used until the very end
    return files;
}

// A line for each access of each kernel and shape: all launches together.
std::string csv_text()
{
    const std::string date = harness::utc_now();
    std::string text = csv_line({"date_utc", "commit", "machine", "program", "kernel",
                                 "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
                                 "dynamic_shared_bytes", "shared_bytes_per_block", "launches", "blocks_run",
                                 "file", "line", "access", "memory", "element_bytes", "requests", "accesses",
                                 "unit", "units", "ideal_units", "worst_request", "bytes_moved", "bytes_asked"});
    const auto n = [](uint64_t value) { return std::to_string(value); };
    for (const Launches& l : all_launches())
        for (const AccessSite& s : l.counts.sites)
            text += csv_line({date, harness::build_commit, machine().label, program_invocation_short_name, l.name,
                              n(l.grid.x), n(l.grid.y), n(l.grid.z), n(l.block.x), n(l.block.y), n(l.block.z),
                              n(l.dynamic_bytes), n(l.counts.shared_bytes), n(l.counts.launched.launches),
                              n(l.counts.launched.blocks), s.file, n(uint64_t(s.line)), access_name(s),
                              memory_name(s), n(s.element_bytes), n(s.requests), n(s.accesses), s.unit, n(s.units),
                              n(s.ideal), n(uint64_t(s.worst)), n(s.bytes), n(s.asked)});
    return text;
}

}  // namespace

void open_files()
{
    const ProgramOptions& o = program_options();
    Files& f = files();
    if (!o.csv.empty()) f.csv = std::make_unique<WholeFile>("--csv", o.csv);
    if (!o.trace.empty()) f.trace = std::make_unique<WholeFile>("--trace", o.trace);
    harness::refuse_one_place(f.csv.get(), f.trace.get());
    if (!f.trace) return;
    f.trace->append(std::string("machine,kernel,launch,block_x,block_y,block_z,") + harness::trace_columns);
    f.trace_sink = [](const harness::TracedRequest& request) {
        files().trace->append(harness::trace_line(files().trace_begin, 3, request));
    };
}

void trace_launch(const Launching& launching, uint64_t number)
{
    if (!files().trace) return;
    if (!reported_kernel(name_of(launching))) return use_trace(nullptr);
    files().trace_begin = harness::trace_begin({machine().label, name_of(launching), std::to_string(number)});
    use_trace(&files().trace_sink);
}

void write_files(int signal)
{
    const ProgramOptions& o = program_options();
    const std::unique_ptr<WholeFile> csv = std::move(files().csv), trace = std::move(files().trace);
    if (signal) {
        for (const auto& [file, option, path] :
             {std::tuple{csv.get(), "--csv", &o.csv}, {trace.get(), "--trace", &o.trace}})
            if (file)
                fprintf(stderr, "%s: %s %s: not written: the program was ended by a signal (%s)\n",
                        program_invocation_short_name, option, path->c_str(), strsignal(signal));
        return;
    }
    if (csv) csv->append(csv_text());
    for (WholeFile* file : {trace.get(), csv.get()})
        if (file) file->check();
    for (WholeFile* file : {trace.get(), csv.get()})
        if (file) file->commit();
}

}  // namespace sim
