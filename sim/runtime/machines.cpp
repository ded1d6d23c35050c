#include "machines.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../common/base/csv.h"
#include "../../common/base/error.h"
#include "kernels.h"
#include "options.h"
#include "output_files.h"

namespace sim {
namespace {

using harness::format;
using Cells = std::vector<std::string>;

int models_file = -1;  // a file in memory for the times, shared with the parent; -1: there is none

ProgramOptions options_for(const harness::Machine& machine)
{
    ProgramOptions options = program_options();
    options.machines = {&machine};
    options.each_machine = false;
    options.quiet = true;
    name_files_after(machine, options);
    return options;
}

// Waits for a child's end. Ctrl-C is for the child, which then reports what ran, and after that for its parent.
int status_of(pid_t child)
{
    struct sigaction ignored {}, before;
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignored, &before);
    int waited = 0;
    while (waitpid(child, &waited, 0) < 0 && errno == EINTR) {}
    sigaction(SIGINT, &before, nullptr);
    if (!WIFSIGNALED(waited)) return WEXITSTATUS(waited);
    if (WTERMSIG(waited) == SIGINT) raise(SIGINT);
    return 128 + WTERMSIG(waited);
}

// Adds a row of the table for each kernel of a child, after those of the same kernel.
void add_rows(std::vector<Cells>& table, const std::string& machine)
{
    std::ifstream models(format("/proc/self/fd/%d", models_file));
    const std::string text(std::istreambuf_iterator<char>(models), {});
    harness::CsvReader reader(text);
    for (Cells row; reader.next(row);) {
        auto last = table.end();
        for (auto known = table.begin(); known != table.end(); ++known)
            if ((*known)[0] == row[0]) last = known + 1;
        row.insert(row.begin() + 1, machine);
        table.insert(last, row);
    }
}

void print_table(std::vector<Cells> table)
{
    if (table.empty()) {
        printf("\nNo kernel was launched, so there is no time.\n");
        return;
    }
    table.insert(table.begin(), {"kernel", "machine", "model ms", "limited by", "then by"});
    std::vector<size_t> widths(table[0].size());
    for (const Cells& row : table)
        for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    printf("\nModelled, not measured: the time of one launch on each machine, for data that come from the DRAM.\n\n");
    std::string before;
    for (const Cells& row : table) {
        std::string line;
        for (size_t i = 0; i < row.size(); ++i) {
            const bool again = i == 0 && row[0] == before;
            line += format(i == 2 ? "%*s  " : "%-*s  ", int(widths[i]), again ? "" : row[i].c_str());
        }
        printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
        before = row[0];
    }
}

}  // namespace

void run_on_each_machine()
{
    const std::vector<const harness::Machine*> machines = program_options().machines;
    for (const harness::Machine* machine : machines) try_files(options_for(*machine));
    const off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    const pid_t parent = getpid();
    std::vector<Cells> table;
    int worst = harness::status_ok;
    for (const harness::Machine* machine : machines) {
        printf("\nOn the %s (%s):\n", machine->label.c_str(), machine->name.c_str());
        fflush(stdout);
        if (input >= 0) lseek(STDIN_FILENO, input, SEEK_SET);  // each run reads a file from the same place
        models_file = memfd_create("models", MFD_CLOEXEC);
        const pid_t child = models_file < 0 ? -1 : fork();
        if (child < 0)
            throw harness::Error{harness::status_bad_input, format("--machines: no process can be started: %s",
                                                                   std::strerror(errno))};
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            if (getppid() != parent) raise(SIGTERM);  // the parent has ended before
            program_options() = options_for(*machine);
            return;
        }
        worst = std::max(worst, status_of(child));
        add_rows(table, machine->name);
        close(models_file);
    }
    print_table(table);
    if (fflush(stdout)) throw harness::Error{harness::status_bad_input, "standard output cannot be written"};
    _exit(worst);
}

void write_models()
{
    if (models_file < 0) return;
    std::string text;
    for (const KernelLaunches& launches : all_launches()) {
        const std::string title = title_of(launches.name, launches.grid, launches.block, launches.dynamic_bytes);
        const std::optional<harness::Prediction> model = model_of(launches);
        const bool sample = program_options().blocks;
        text += model ? harness::csv_line({title, format("%.4g", model->ms), model->limit, model->next})
                      : harness::csv_line({title, "", sample ? "a sample has no time" : "no constants", ""});
    }
    if (write(models_file, text.data(), text.size()) != ssize_t(text.size())) {}  // the table then lacks the kernels
}

}  // namespace sim
