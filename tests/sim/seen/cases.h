// Cases of a program, each run alone: ./program name. A comment "//! kind: text" says what is found at its line. A case
// without one is right.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Case {
    Case(const char* name, void (*run)()) : name(name), run(run), next(first) { first = this; }
    const char* name;
    void (*run)();
    Case* next;
    static inline Case* first = nullptr;
};

#define CASE(name)                               \
    namespace cases { void name(); }             \
    static Case name##_case(#name, cases::name); \
    void cases::name()

template <typename T>
T* device(int n)
{
    T* memory = nullptr;
    if (cudaMalloc(&memory, n * sizeof(T)) || cudaMemset(memory, 0, n * sizeof(T)) || cudaDeviceSynchronize()) exit(3);
    return memory;
}

inline void done()
{
    if (cudaDeviceSynchronize()) exit(4);
}

// The kernel fails, so nothing more can be freed.
inline void done_badly()
{
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress) exit(4);
}

int main(int count, char** arguments)
{
    for (Case* c = Case::first; c; c = c->next)
        if (count == 2 && !strcmp(c->name, arguments[1])) {
            c->run();
            return 0;
        }
    return 2;
}
