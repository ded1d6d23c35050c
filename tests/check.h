// The checks of the C++ tests. The first 20 that fail are printed with their places, and the program goes on. main()
// ends with `return checked();`.

#pragma once

#include <cstdio>
#include <string>

inline int checks = 0, failures = 0;

// `what`: the condition as it stands in the source, or a sentence.
inline void check(bool holds, const std::string& what, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE())
{
    ++checks;
    if (holds) return;
    if (++failures > 20) return;
    printf("%s:%d: does not hold: %s\n", file, line, what.c_str());
}

#define CHECK(condition) check(bool(condition), #condition)

// Prints the totals. Returns the exit status of the test: 1 if a check failed.
inline int checked()
{
    printf("%d checks, %d failed\n", checks, failures);
    return failures ? 1 : 0;
}
