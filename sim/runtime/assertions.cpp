// assert(), which is the C library's in kernels, too: what it calls is defined here in the library's place.

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../core/hooks/thread.h"

extern "C" void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function) noexcept
{
    if (sim::in_kernel()) {
        static thread_local std::string text;  // not lost with the thread's stack
        text = std::string("assertion failed: ") + assertion;
        sim::fail(text.c_str(), SIM_PLACE, true);
    }
    fflush(stdout);
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file, line, function,
            assertion);
    abort();
}
