#include "fibers.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <new>

namespace sim {

Fibers::Fibers() : page_(size_t(sysconf(_SC_PAGESIZE)))
{
    void* pool = mmap(nullptr, stack_bytes * most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED) throw std::bad_alloc();
    pool_ = static_cast<char*>(pool);
}

Fibers::~Fibers() { munmap(pool_, stack_bytes * most); }

bool Fibers::guard(uintptr_t address) const { return hold(address) && (address - uintptr_t(pool_)) % stack_bytes < page_; }

std::string_view Fibers::stack(const Fiber& fiber) const
{
    const char* top = static_cast<const char*>(fiber.paused[2]);  // where __builtin_setjmp has the stack pointer
    const size_t i = size_t(top - pool_) / stack_bytes;
    return {top, size_t(pool_ + (i + 1) * stack_bytes - top)};
}

void Fibers::start(Fiber*& running, void (*enter)())
{
    const size_t i = size_t(started_++);
    running = &fiber_[i];
    char* low = pool_ + i * stack_bytes;
    mprotect(low, page_, PROT_NONE);
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = low + page_;
    // Stacks a power of two apart would all compete for the same cache sets: stagger them.
    start.uc_stack.ss_size = stack_bytes - page_ - i * 7 % 64 * 64;
    start.uc_link = nullptr;
    makecontext(&start, enter, 0);
    setcontext(&start);
    __builtin_unreachable();
}

}  // namespace sim
