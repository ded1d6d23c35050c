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

int models_file = -1;  // in memory, shared with the parent; -1: there is none

[[noreturn]] void fail(const char* what)
{
    throw harness::Error{harness::status_bad_input, format("--machines: %s: %s", what, std::strerror(errno))};
}

ProgramOptions options_for(const harness::Machine& machine)
{
    ProgramOptions options = program_options();
    options.machines = {&machine};
    options.each_machine = false;
    options.quiet = true;
    name_files_after(machine, options);
    return options;
}

// The kernels of a child: title, ms, limit and next limit.
std::vector<Cells> models_in(int file)
{
    std::string text;
    char buffer[4096];
    lseek(file, 0, SEEK_SET);
    for (ssize_t n; (n = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, size_t(n));
    harness::CsvReader reader(text);
    std::vector<Cells> rows;
    for (Cells cells; reader.next(cells);) rows.push_back(cells);
    return rows;
}

// Waits for a child's end. Ctrl-C is for the child, which then reports what ran, and after that for its parent.
int wait_for(pid_t child)
{
    struct sigaction ignored {}, before;
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignored, &before);
    int waited = 0;
    while (waitpid(child, &waited, 0) < 0 && errno == EINTR) {}
    sigaction(SIGINT, &before, nullptr);
    if (WIFSIGNALED(waited) && WTERMSIG(waited) == SIGINT) raise(SIGINT);
    return waited;
}

int status_of(int waited) { return WIFSIGNALED(waited) ? 128 + WTERMSIG(waited) : WEXITSTATUS(waited); }

// Adds a row of the table for each kernel of a machine, behind those of the same kernel.
void add_rows(std::vector<Cells>& table, const std::string& machine, const std::vector<Cells>& models)
{
    for (const Cells& model : models) {
        auto last = table.end();
        for (auto row = table.begin(); row != table.end(); ++row)
            if ((*row)[0] == model[0]) last = row + 1;
        Cells row = model;
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

// Where the program's input is a file, each run reads it from the same place.
class Input {
public:
    Input() : begin_(lseek(STDIN_FILENO, 0, SEEK_CUR)) {}
    void again() const
    {
        if (begin_ >= 0) lseek(STDIN_FILENO, begin_, SEEK_SET);
    }

private:
    off_t begin_;
};

// True in the child.
bool fork_child(const pid_t parent, pid_t& child)
{
    child = fork();
    if (child < 0) fail("no process can be started");
    if (child > 0) return false;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) raise(SIGTERM);  // it ended before
    return true;
}

}  // namespace

void run_on_each_machine()
{
    const std::vector<const harness::Machine*> machines = program_options().machines;
    for (const harness::Machine* machine : machines) try_files(options_for(*machine));
    const Input input;
    const pid_t parent = getpid();
    std::vector<Cells> table;
    int worst = harness::status_ok;
    for (const harness::Machine* machine : machines) {
        printf("\nOn the %s (%s):\n", machine->label.c_str(), machine->name.c_str());
        fflush(stdout);
        input.again();
        const int file = memfd_create("models", MFD_CLOEXEC);
        if (file < 0) fail("no file in memory");
        pid_t child;
        if (fork_child(parent, child)) {
            program_options() = options_for(*machine);
            models_file = file;
            return;
        }
        worst = std::max(worst, status_of(wait_for(child)));
        add_rows(table, machine->name, models_in(file));
        close(file);
    }
    print_table(table);
    if (fflush(stdout)) throw harness::Error{harness::status_bad_input, "standard output cannot be written"};
    _exit(worst);
}

void write_models()
{
    if (models_file < 0) return;
    std::string text;
    for (const Launches& launches : all_launches()) {
        const std::string title = title_of(launches.name, launches.grid, launches.block, launches.dynamic_bytes);
        const std::optional<harness::Prediction> model = model_of(launches);
        const bool sample = program_options().blocks;
        text += model ? harness::csv_line({title, format("%.4g", model->ms), model->limit, model->next})
                      : harness::csv_line({title, "", sample ? "a sample has no time" : "no constants", ""});
    }
    if (write(models_file, text.data(), text.size()) != ssize_t(text.size())) {}  // the table then lacks the kernels
}

}  // namespace sim
