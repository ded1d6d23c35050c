// Stacks. All stacks of a host thread are one mapping without memory behind it, so a fiber costs what it touches. A
// page at the end of each stack is closed when the fiber starts: a stack that overflows meets it and faults.cpp
// makes a finding of it. A stack has room for the 512 kB of local memory that CUDA gives a thread. A fiber is never
// destroyed. It is used again by the next thread and the next block.

#include "fibers.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../../common/base/error.h"
#include "../../../common/base/limits.h"

#ifdef SIM_ANNOUNCED_FIBERS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace sim {
namespace {

// Stacks a power of two apart would all compete for the same sets of the cache: they are staggered.
size_t stagger(size_t i) { return i * 7 % 64 * 64; }

}  // namespace

Fibers::Fibers() : page_(size_t(sysconf(_SC_PAGESIZE))), stack_bytes_(SIM_STACK_BYTES)
{
    // An odd number of pages, because stacks a power of two apart would compete for the same sets of the TLB.
    if (harness::address_limit() > uint64_t(1) << 36) stack_bytes_ += 512 * 1024 + page_;
    void* pool =
        mmap(nullptr, stack_bytes_ * most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED) harness::out_of_memory();
    madvise(pool, stack_bytes_ * most, MADV_DONTFORK);  // a forked process runs no kernel: it needs no stacks
    pool_ = static_cast<char*>(pool);
}

Fibers::~Fibers()
{
#ifdef SIM_ANNOUNCED_FIBERS
    __asan_unpoison_memory_region(pool_, stack_bytes_ * most);  // another mapping may get these addresses
#endif
    munmap(pool_, stack_bytes_ * most);
}

#ifdef SIM_ANNOUNCED_FIBERS
void Fibers::leave(Fiber* from, Fiber* to)
{
    left_home_ = !from;
    const char* bottom = to ? pool_ + (to - fiber_) * stack_bytes_ + page_ : nullptr;
    __sanitizer_start_switch_fiber(from ? &from->shadow : &home_.shadow, to ? bottom : home_.bottom,
                                   to ? stack_bytes_ - page_ : home_.bytes);
}

void Fibers::arrive(Fiber* on)
{
    __sanitizer_finish_switch_fiber(on ? on->shadow : home_.shadow, left_home_ ? &home_.bottom : nullptr,
                                    left_home_ ? &home_.bytes : nullptr);
}
#endif

bool Fibers::guard(uintptr_t address) const
{
    return hold(address) && (address - uintptr_t(pool_)) % stack_bytes_ < page_;
}

uint64_t Fibers::depth(uintptr_t address) const
{
    const size_t i = (address - uintptr_t(pool_)) / stack_bytes_;
    return uintptr_t(pool_) + (i + 1) * stack_bytes_ - stagger(i) - address;
}

const char* Fibers::stack_pointer(const Fiber& fiber) const
{
    // __builtin_setjmp saves the stack pointer here. With -fcf-protection, Ubuntu's default, it saves that of the
    // shadow stack in front of it.
    return static_cast<const char*>(hold(uintptr_t(fiber.paused[2])) ? fiber.paused[2] : fiber.paused[3]);
}

std::string_view Fibers::stack(const char* top) const
{
    const size_t i = size_t(top - pool_) / stack_bytes_;
    return {top, size_t(pool_ + (i + 1) * stack_bytes_ - top)};
}

void Fibers::start(Fiber*& running, void (*enter)())
{
    const size_t i = size_t(started_++);
    fiber_[i].shadow = nullptr;
    leave(running, &fiber_[i]);
    running = &fiber_[i];
    char* low = pool_ + i * stack_bytes_;
    mprotect(low, page_, PROT_NONE);
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = low + page_;
    start.uc_stack.ss_size = stack_bytes_ - page_ - stagger(i);
    start.uc_link = nullptr;
    makecontext(&start, enter, 0);
#ifdef SIM_ANNOUNCED_FIBERS
    __asan_handle_no_return();  // compilers insert this call in front of other functions that never return
#endif
    setcontext(&start);
    __builtin_unreachable();
}

}  // namespace sim
