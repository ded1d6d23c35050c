// Faults of the host's code: accesses that the hardware would refuse, too, and faults that end any program.

#include "host_faults.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../common/base/error.h"
#include "../elf/places.h"
#include "../core/block/signals.h"
#include "../core/lanes/threads.h"
#include "../elf/symbols.h"
#include "notes.h"
#include "program.h"
#include "runtime.h"

namespace sim {
namespace {

using harness::format;

// The instruction, and the calls that led to it.
std::vector<uint64_t> fault_addresses(const void* context)
{
    std::vector<uint64_t> addresses{faulting_place(context)};
    void* frames[64];
    const int count = backtrace(frames, 64);
    bool below = false;
    for (int i = 0; i < count; ++i) {
        if (below) addresses.push_back(uint64_t(frames[i]));
        below = below || uint64_t(frames[i]) + 1 == addresses[0];
    }
    return addresses;
}

// The place in the program: that of the instruction, or of the call that led to it, through a library.
harness::FindingPlace fault_place(const void* context)
{
    for (uint64_t address : fault_addresses(context)) {
        const Place place = place_of(address);
        if (place.file.empty() || place.in_library) continue;
        return finding_place(address);
    }
    return {};
}

std::string line_text(const harness::FindingPlace& place)
{
    return place.file.empty() ? "an unknown line" : format("%s:%d", place.file.c_str(), place.line);
}

// Ends the program as the signal would have done. The handler itself holds the signal back.
[[noreturn]] void die_of(int signal)
{
    ::signal(signal, SIG_DFL);
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
    raise(signal);
    _exit(128 + signal);
}

[[noreturn]] void end_by(int signal, const std::string& what, const void* context)
{
    program_note(what + " at " + line_text(fault_place(context)));
    finish_program(128 + signal, signal);
    die_of(signal);
}

// AArch64 has no such flag for a program. There, the page stays open until the next launch.
void stop_after_instruction([[maybe_unused]] void* context, [[maybe_unused]] bool stop)
{
#if defined __x86_64__
    constexpr greg_t trap = 0x100;
    greg_t& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
    flags = stop ? flags | trap : flags & ~trap;
#endif
}

void on_instruction(int, siginfo_t*, void* context)
{
    stop_after_instruction(context, false);
    const RuntimeLock lock;
    protect_shared(PROT_NONE);
}

// True if variables are being initialized, before main.
bool in_initializer(const void* context)
{
    for (uint64_t address : fault_addresses(context))
        if (const Symbol* function = function_at(address - 1); function && function->name.substr(0, 8) == "_GLOBAL_")
            return true;
    return false;
}

void on_bad_address(int signal, siginfo_t* info, void* context)
{
    const uintptr_t address = uintptr_t(info->si_addr);
    const bool stores = faulting_store(context);
    if (const RuntimeLock lock; !in_device_range(address)) {
        const harness::FindingPlace place = fault_place(context);
        const Meeting met = host_meets_work(address, stores, place, line_text(place));
        if (met == Meeting::in_its_page) stop_after_instruction(context, true);
        if (met != Meeting::none) return;
    } else if (among_variables(address) && in_initializer(context)) {
        return protect_variables(PROT_READ | PROT_WRITE);
    }
    const Allocation* allocation = allocation_at(address);
    const auto found = [&](const harness::FindingKind& kind, const std::string& text, const std::string& remedy = "") {
        const harness::FindingPlace place = fault_place(context);
        program_finding(harness::Finding(kind, text + ", at " + line_text(place) + remedy, place));
    };
    if (in_device_range(address)) {
        found(kinds::host_access, "host access: the host accesses device memory: " + address_text(address),
              std::string("; copy it with cudaMemcpy") +
                  (!among_variables(address) ? "" : stores ? "ToSymbol" : "FromSymbol"));
    } else if (allocation && allocation->freed) {
        found(kinds::use_after_free, "use after free: the host accesses " + address_text(address));
    } else if (const Copying copy = copying(); copy.place) {
        program_finding(kinds::bad_copy, copy.place,
                        format("bad copy: %s: the memory of the host ends before the copy does, at %p",
                               copy.text.c_str(), info->si_addr));
    } else {
        end_by(signal, format("the program crashed on a memory fault in its host code, address %p,", info->si_addr),
               context);
    }
    _exit(finish_program(harness::status_wrong_result));
}

void on_abort(int signal, siginfo_t*, void* context)
{
    end_by(signal,
           signal == SIGFPE ? "the program crashed on a division by zero" : "the program ended itself by abort()",
           context);
}

volatile sig_atomic_t running = 0;
volatile sig_atomic_t& interrupted = stopping;  // the signal; a kernel that runs ends soon

[[noreturn]] void end_interrupted()
{
    program_note("the program was interrupted; the report covers what ran before");
    finish_program(128 + interrupted, interrupted);
    die_of(interrupted);
}

// Ends a program that does not stop in time: a turn of a kernel's loop is too long, or a lock was held when the signal
// came.
void on_alarm(int)
{
    static const char words[] = "interrupted in the middle of a kernel; there is no report\n";
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) {}
    die_of(interrupted);
}

// (A signal may be sent twice at once: to the program, and to its group.)
void on_interrupt(int signal)
{
    if (interrupted) return;
    interrupted = signal;
    for (int late : {SIGALRM, SIGPROF}) ::signal(late, on_alarm);
    if (running) {
        // The limit is one of computing time, because a machine that is busy with other work may take longer until the
        // kernel can stop.
        itimerval patience{};
        patience.it_value.tv_sec = 2;
        setitimer(ITIMER_PROF, &patience, nullptr);
    }
    alarm(30);  // a lock that was held when the signal came is held for ever
    if (!running) end_interrupted();
}

}  // namespace

void kernel_stopped()
{
    if (!interrupted) return;
    const itimerval none{};
    setitimer(ITIMER_PROF, &none, nullptr);  // the report has no limit of time
}

void set_running(bool now)
{
    running = now;
    if (!now && interrupted) end_interrupted();
}

void catch_host_faults()
{
    // A stack of its own: the fault may be that there is no room on the program's.
    static char room[256 * 1024];
    stack_t stack{};
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    sigaltstack(&stack, nullptr);
    void* frames[1];
    backtrace(frames, 1);  // loads what it needs now
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = on_bad_address;
    for (int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
    action.sa_sigaction = on_instruction;
    sigaction(SIGTRAP, &action, nullptr);
    action.sa_flags |= SA_RESETHAND;
    action.sa_sigaction = on_abort;
    for (int signal : {SIGABRT, SIGFPE}) sigaction(signal, &action, nullptr);
    action.sa_flags = SA_RESTART;
    action.sa_handler = on_interrupt;
    for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace sim
