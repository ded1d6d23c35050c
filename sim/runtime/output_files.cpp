#include "output_files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../../common/base/csv.h"
#include "../../common/base/files.h"
#include "../../common/base/traced_request.h"
#include "../core/grid/simulator.h"
#include "filters.h"
#include "kernels.h"
#include "options.h"
#include "reports.h"

namespace sim {
namespace {

using harness::WholeFile;

struct Output {
    const char* option;
    std::string ProgramOptions::*path;
    std::string (*text)();  // at the end; null: it is written while the program runs
};

const Output outputs[] = {{"--csv", &ProgramOptions::csv, counts_csv},
                          {"--json", &ProgramOptions::json, report_json},
                          {"--page", &ProgramOptions::page, report_page},
                          {"--sarif", &ProgramOptions::sarif, sarif_text},
                          {"--trace", &ProgramOptions::trace, nullptr}};

struct OpenFile {
    const Output* output;
    std::unique_ptr<WholeFile> file;
};

struct Files {
    std::vector<OpenFile> open;
    WholeFile* trace = nullptr;
    std::string trace_begin;  // of the lines of the launch that runs
    harness::TraceSink trace_sink;
};

Files& files()
{
    static Files& files = *new Files;  // never destroyed: exit handlers use it
    return files;
}

void begin_trace(WholeFile& trace)
{
    trace.append(std::string("machine,kernel,launch,block_x,block_y,block_z,") + harness::trace_columns);
    files().trace = &trace;
    files().trace_sink = [](const harness::TracedRequest& request) {
        files().trace->append(harness::trace_line(files().trace_begin, 3, request));
    };
}

}  // namespace

void name_files_after(const harness::Machine& machine, ProgramOptions& options)
{
    for (const Output& output : outputs) {
        std::string& path = options.*output.path;
        if (path.empty()) continue;
        const size_t name = path.rfind('/') + 1, dot = path.rfind('.');
        path.insert(dot == path.npos || dot <= name ? path.size() : dot, "." + machine.name);
    }
}

void try_files(const ProgramOptions& options)
{
    for (const Output& output : outputs)
        if (const std::string& path = options.*output.path; !path.empty()) harness::WholeFile(output.option, path);
}

void open_files()
{
    for (const Output& output : outputs) {
        const std::string& path = program_options().*output.path;
        if (path.empty()) continue;
        auto file = std::make_unique<WholeFile>(output.option, path);
        for (const OpenFile& other : files().open) harness::refuse_one_place(other.file.get(), file.get());
        if (!output.text) begin_trace(*file);
        files().open.push_back({&output, std::move(file)});
    }
}

const harness::TraceSink* trace_of(const Launching& launching, uint64_t number)
{
    if (!files().trace || !reported_kernel(name_of(launching))) return nullptr;
    files().trace_begin = harness::trace_begin({machine().label, name_of(launching), std::to_string(number)});
    return &files().trace_sink;
}

void write_files(int signal)
{
    const std::vector<OpenFile> open = std::move(files().open);
    files().trace = nullptr;
    if (signal) {
        for (const OpenFile& each : open)
            fprintf(stderr, "%s: %s %s: not written: the program was ended by a signal (%s)\n",
                    program_invocation_short_name, each.output->option,
                    harness::printable(each.file->path()).c_str(), strsignal(signal));
        return;
    }
    for (const OpenFile& each : open)
        if (each.output->text) each.file->append(each.output->text());
    for (const OpenFile& each : open) each.file->check();
    for (const OpenFile& each : open) each.file->commit();
}

}  // namespace sim
