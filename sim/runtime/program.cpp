// The program's own text knows nothing of the simulator, so a constructor of this file runs before everything else: it
// reads SIM_OPTIONS, opens the files and takes the launches. A handler of exit() prints the report after the program
// has destroyed its variables. A program that ends in a fault or by a signal gets its report from host_faults.cpp. The
// report is printed once, whichever of them comes first. The program's exit status stays, but for findings: then 0
// becomes 1, or what --error-exitcode says.

#include "program.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "../../common/base/commit.h"
#include "../../common/base/error.h"
#include "../../common/base/files.h"
#include "../../common/base/suggest.h"
#include "../core/devices.h"
#include "../core/memory/memory.h"
#include "../elf/places.h"
#include "../core/grid/simulator.h"
#include "../elf/symbols.h"
#include "../core/hooks/thread.h"
#include "filters.h"
#include "host_faults.h"
#include "kernels.h"
#include "launcher.h"
#include "machines.h"
#include "notes.h"
#include "options.h"
#include "output_files.h"
#include "reports.h"
#include "runtime.h"

namespace sim {
namespace {

using namespace harness;

pid_t process = 0;
bool finished = false;

void say(const Error& error)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, printable(error.message).c_str());
}

void at_exit(int status, void*)
{
    if (in_child()) return;  // a child's end is not the program's
    const int own = finish_program(status);
    _exit(own);
}

// With --help or --version, the program prints this text and ends.
void tell_and_leave()
{
    const ProgramOptions& o = program_options();
    if (!o.help && !o.version) return;
    printf("%s", o.help ? program_usage().c_str() : (version_line("simulator") + "\n").c_str());
    if (fflush(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
    _exit(status_ok);
}

// Before main, and before any variable of the program is initialized.
__attribute__((constructor(101))) void begin_program()
{
    const NoWayOut no_way_out;
    keep_standard_files();
    try {
        need_symbols();
        read_program_options();
        tell_and_leave();
        if (program_options().each_machine) run_on_each_machine();
        open_files();
    } catch (const Error& error) {
        say(error);
        _exit(error.status);
    }
    process = getpid();
    // Objects made before at_exit is registered still exist when the program's own variables are destroyed, and after.
    memory();
    place_of(uint64_t(SIM_PLACE));
    host_threads();
    use_program_launcher();
    protect_variables(PROT_NONE);
    catch_host_faults();
    on_exit(at_exit, nullptr);
}

extern "C" __attribute__((weak)) const char sim_sides_by_names[];  // sim/simcuda

// Notes the faults that show only now that the program has ended.
void note_what_is_left(bool ended_well)
{
    note_accounts();
    for (const std::string& launch : refused_launches()) program_note(launch);
    for (const harness::Finding& error : unseen_errors()) program_finding(error);
    for (const harness::Finding& message : lone_messages()) program_finding(message);
    // A program that was stopped could not free its memory, or wait.
    if (ended_well && !context_lost()) {
        for (const harness::Finding& launch : launches_not_waited_for()) program_finding(launch);
        for (const harness::Finding& memory : never_freed()) program_finding(memory);
    }
    if (sim_sides_by_names)
        program_note("host and device functions were told apart by their names alone; with clang++ installed, members "
                     "are checked, too");
    if (const std::string note = tools_note(); !note.empty()) program_note(note);
    if (const uint64_t more = launches_finished() - launches_reported())
        program_note(format("--kernel %s: %llu launch%s of other kernels left out", program_options().kernel.c_str(),
                            (unsigned long long)more, more == 1 ? "" : "es"));
}

// A pattern that fits no kernel must not pass for a check without findings.
void check_that_a_kernel_fits()
{
    const std::string& pattern = program_options().kernel;
    if (pattern.empty() || launches_reported()) return;
    const std::vector<std::string> others = kernels_left_out();
    throw Error{status_bad_input, "--kernel " + pattern + ": no such kernel was launched" +
                                      (others.empty() ? "" : "; " + expected_one_of(pattern, others))};
}

// The status of a program whose own is `status`.
int status_with_findings(int status)
{
    const int wanted = program_options().error_exitcode;
    if (program_findings().empty() || wanted == 0) return status;
    return wanted > 0 ? wanted : status == status_ok ? int(status_wrong_result) : status;
}

}  // namespace

bool in_child() { return getpid() != process; }

int finish_program(int status, int signal)
{
    const NoWayOut no_way_out;
    if (finished) return status;
    finished = true;
    note_what_is_left(status == status_ok);
    fflush(stdout);
    print_summary();
    int own = status_with_findings(status);
    fflush(stdout);
    try {
        write_files(signal);
        check_that_a_kernel_fits();
        if (ferror(stdout)) throw Error{status_bad_input, "standard output cannot be written"};
    } catch (const Error& error) {
        say(error);
        if (own == status_ok) own = error.status;
    }
    write_models();
    fflush(nullptr);
    return own;
}

// The program reaches a function of a library that the simulator does not have; rewrite/libraries.cpp declares it. What
// the program would do with its results is not judged.
void library_call(const char* name, const char* why, void* place)
{
    if (in_kernel()) fail(format("%s: %s", name, why).c_str(), place);
    const RuntimeLock lock;
    program_finding(kinds::not_simulated, place,
                    format("not simulated: %s %s: %s; the program ends here", name, at(place).c_str(), why));
    _exit(finish_program(status_wrong_result));
}

}  // namespace sim

extern "C" void sim_quiet_report() { sim::program_options().silent = true; }
