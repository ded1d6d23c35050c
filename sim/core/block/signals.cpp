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

struct sigaction before_segv, before_bus;

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
    if (watching) {
        const uintptr_t address = uintptr_t(info->si_addr);
        Worker& worker = *Worker::here();
        Watch& watch = worker.watch();
        // fail() does not return: the fiber is left, and never comes back to where the signal was raised.
        if (worker.threads().fibers().guard(address))
            watch.fail(kinds::local_memory,
                        "local memory: a thread has more local variables than the 512 kB that CUDA allows",
                        faulting_place(context));
        watch.fail_if_built_in(address, faulting_place(context));
        watch.fail_if_host_address(address, address + 1 == faulting_place(context) ? calling_place(context)
                                                                                    : faulting_place(context));
        watch.settle_index();  // an index past the end of a local array, which nothing watches
        watch.fail(kinds::kernel_failed, "illegal address that no access of the kernel's text explains",
                    faulting_place(context));
    }
    const struct sigaction& before = signal == SIGSEGV ? before_segv : before_bus;
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
        return true;
    }();
    (void)installed;
}

}  // namespace sim
