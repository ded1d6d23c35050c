// Fibers: threads of execution that take turns on one host thread.
//
// A fiber starts with makecontext and from then on switches with the compiler's own setjmp and
// longjmp: a handful of instructions, where swapcontext makes a system call and the C library's
// longjmp looks for cleanup handlers first (and, under _FORTIFY_SOURCE, for an attack).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined __SANITIZE_ADDRESS__
#define SIM_ANNOUNCED_FIBERS
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SIM_ANNOUNCED_FIBERS
#endif
#endif
namespace sim {

// The arrays are filled by __builtin_setjmp. __builtin_longjmp continues where they were filled.
struct Fiber {
    void* paused[5];    // in the middle of a simulated thread
    void* idle[5];      // between two simulated threads
    const char* frame;  // of the function that paused it
    uint64_t turn;      // of the simulated thread: turns.h
    void* shadow;       // AddressSanitizer's, while the fiber is paused
};

// The fibers of one host thread and their stacks.
class Fibers {
public:
    static constexpr int most = 1024;
#ifndef SIM_STACK_BYTES
#define SIM_STACK_BYTES (64 * 1024)
#endif

    Fibers();  // throws std::bad_alloc
    ~Fibers();
    Fibers(const Fibers&) = delete;

    Fiber& operator[](int i) { return fiber_[i]; }
    bool hold(uintptr_t address) const { return address - uintptr_t(pool_) < most * stack_bytes_; }
    // True if two addresses lie on the stack of one fiber.
    bool share(uintptr_t a, uintptr_t b) const
    {
        return (a - uintptr_t(pool_)) / stack_bytes_ == (b - uintptr_t(pool_)) / stack_bytes_;
    }
    // The distance from an address to where its stack begins.
    uint64_t depth(uintptr_t address) const;
    // A stack from an address on. That of a paused fiber begins with its registers.
    std::string_view stack(const char* top) const;
    const char* stack_pointer(const Fiber& fiber) const;
    // True if the address lies in the page that ends a stack: the stack has overflowed.
    bool guard(uintptr_t address) const;

    // Leaves the caller's stack for that of the next fiber that has not been started, and calls
    // enter() there. `running` is set to the fiber first.
    [[noreturn]] void start(Fiber*& running, void (*enter)());

    // leave() tells AddressSanitizer of a switch before it, and arrive() after it. Null: the stack of the host thread.
#ifdef SIM_ANNOUNCED_FIBERS
    void leave(Fiber* from, Fiber* to);
    void arrive(Fiber* on);
#else
    void leave(Fiber*, Fiber*) {}
    void arrive(Fiber*) {}
#endif

private:
    Fiber fiber_[most];
    int started_ = 0;
    char* pool_;
    size_t page_, stack_bytes_;  // stack_bytes_: of one fiber
#ifdef SIM_ANNOUNCED_FIBERS
    struct {
        void* shadow = nullptr;
        const void* bottom = nullptr;
        size_t bytes = 0;
    } home_;  // the stack of the host thread
    bool left_home_ = false;
#endif
};

}  // namespace sim
