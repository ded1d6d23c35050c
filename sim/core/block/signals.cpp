// Signals that a simulated thread raises: its stack has overflowed, or it touches an address that the simulator does
// not watch. They end the thread, with a finding. Signals of the host's code go to the handlers that were there before.

#include "signals.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "worker.h"

namespace sim {
namespace {

struct sigaction before_segv, before_bus, before_fpe;

// A division by zero raises a signal on x86-64 alone. Goes on behind the instruction, as a GPU does. PTX leaves the
// result open. On an H200, quotient and remainder have all bits set (CUDA 13.0), and the least number divided by -1,
// which raises the signal, too, is itself. True if the instruction was a division.
bool pass_division(void* context, bool* by_zero)
{
#if defined __x86_64__
    greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const uint8_t* at = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
    const bool half = *at == 0x66;
    at += half;
    const unsigned prefix = (*at & 0xf0) == 0x40 ? *at++ : 0, code = *at++, form = *at++;
    const unsigned kind = form >> 3 & 7, mode = form >> 6, base = form & 7;
    if (code != 0xf7 || kind < 6) return false;
    const unsigned within = mode < 3 && base == 4 ? *at++ & 7 : base;
    at += mode == 1 ? 1 : mode == 2 || (mode == 0 && within == 5) ? 4 : 0;
    const unsigned bits = prefix & 8 ? 64 : half ? 16 : 32;
    const uint64_t all = ~uint64_t(0) >> (64 - bits), least = uint64_t(1) << (bits - 1);
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    const uint64_t dividend = uint64_t(registers[REG_RAX]) & all;
    *by_zero = kind == 6 || dividend != least || (mode == 3 && !(registers[order[base | (prefix & 1) << 3]] & all));
    registers[REG_RAX] = greg_t(*by_zero ? all : least);
    registers[REG_RDX] = greg_t(*by_zero ? all : 0);
    registers[REG_RIP] = greg_t(at);
    return true;
#else
    return (void)context, (void)by_zero, false;
#endif
}

// The return address of a function that was called and has not yet set up its frame.
uint64_t calling_place(const void* context)
{
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined __x86_64__
    return *reinterpret_cast<const uint64_t*>(machine.gregs[REG_RSP]);
#else
    return machine.regs[30];
#endif
}

void on_fault(int signal, siginfo_t* info, void* context)
{
    bool by_zero = false;
    const uint64_t place = faulting_place(context);
    if (watching && signal == SIGFPE && pass_division(context, &by_zero)) {
        if (by_zero) Worker::here()->watch().note_division_by_zero(place);
        return;
    }
    if (watching && signal != SIGFPE) {
        const uintptr_t address = uintptr_t(info->si_addr);
        Worker& worker = *Worker::here();
        Watch& watch = worker.watch();
        // fail() does not return: the fiber is left, and never comes back to where the signal was raised.
        if (worker.threads().fibers().guard(address))
            watch.fail(kinds::local_memory,
                       "local memory: a thread has more local variables than the 512 kB that CUDA allows", place);
        watch.fail_if_built_in(address, place);
        watch.fail_if_host_address(address, address + 1 == place ? calling_place(context) : place);
        watch.settle_index();  // an index past the end of a local array, which nothing watches
        watch.fail(kinds::kernel_failed, "illegal address that no access of the kernel's text explains", place);
    }
    const struct sigaction& before = signal == SIGSEGV ? before_segv : signal == SIGBUS ? before_bus : before_fpe;
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) return before.sa_sigaction(signal, info, context);
    sigaction(signal, &before, nullptr);  // raised again on return, for the handler that was there before
}

}  // namespace

uint64_t faulting_place(const void* context)
{
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined __x86_64__
    return uint64_t(machine.gregs[REG_RIP]) + 1;
#else
    return uint64_t(machine.pc) + 1;
#endif
}

bool faulting_store(const void* context)
{
#if defined __x86_64__
    return static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)context;
    return false;
#endif
}

bool use_signal_stack()
{
    stack_t stack{};
    stack.ss_size = 64 * 1024;
    stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return stack.ss_sp != MAP_FAILED && sigaltstack(&stack, nullptr) == 0;
}

void catch_signals()
{
    static thread_local bool caught = false;
    if (caught) return;
    caught = true;
    if (!use_signal_stack()) return;
    static const bool installed = [] {
        struct sigaction action{};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(SIGSEGV, &action, &before_segv);
        sigaction(SIGBUS, &action, &before_bus);
        sigaction(SIGFPE, &action, &before_fpe);
        return true;
    }();
    (void)installed;
}

}  // namespace sim
