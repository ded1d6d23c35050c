// What the source declares for the device registers itself.
//
// The rewriter puts a record behind each shared array, each variable of the device and each __launch_bounds__
// (rewrite/variables.cpp). Its constructor adds it to a list, before other constructors of the program run, because
// these may launch kernels. A template and an inline function have one record for each of their instances.

#pragma once

#include <cstdint>
#include <type_traits>

#include "function.h"
#include "padding.h"

namespace sim {

struct Declared {
    enum Kind : unsigned char { shared, shared_of_function, shared_of_kernel, device, managed, constant, bound };
    Kind kind;
    bool read_only;      // its type is const
    const char* name;    // as it is written
    void* (*address)();  // on this host thread; a function inside the one that has the declaration
    uint64_t bytes;      // of a launch bound: the threads that a block may have
    // nvcc lays the shared arrays of a kernel out in the order of their declarations, each aligned as its type or as it
    // is told to be.
    unsigned order = 0, alignment = 1;
    unsigned element_bytes = 0;                     // of a shared array
    const unsigned char* (*members)() = nullptr;    // of its elements: padding.h
    const Declared* next = nullptr;
};

extern const Declared* records;  // the one that was added last
void add_record(Declared& record);

// The block's last arrays of functions that it has called, so that one thread tells for all. Their addresses are
// multiples of 256.
extern __thread uintptr_t declared[4];
constexpr unsigned declared_at(uintptr_t array) { return array / 256 % 4; }

// The size of an array's innermost element.
template <typename T>
constexpr unsigned element_bytes = sizeof(T);
template <typename T, size_t N>
constexpr unsigned element_bytes<T[N]> = element_bytes<T>;

template <Declared::Kind kind, typename T>
constexpr Declared record_of(const char* name, void* (*address)(), unsigned order, unsigned alignment)
{
    using Element = std::remove_all_extents_t<T>;
    Declared record{kind, std::is_const_v<Element>, name, address, sizeof(T)};
    if constexpr (kind <= Declared::shared_of_kernel) {
        record.order = order;
        record.alignment = alignof(T) > alignment ? alignof(T) : alignment;
        record.element_bytes = element_bytes<T>;
        record.members = members<Element>;
    }
    return record;
}

template <typename T>
__attribute__((always_inline)) inline void* address_of(T& variable)
{
    return const_cast<char*>(&reinterpret_cast<const volatile char&>(variable));
}

struct Listed {
    Declared record;
    SIM_FUNCTION explicit Listed(const Declared& of) : record(of) { add_record(record); }
};

// The record of a declaration in a function. Tag is a class that stands next to the declaration.
template <typename Tag>
__attribute__((init_priority(101))) inline Listed listed{Tag::record()};

// The alignment of a template's variable. The declaration names it, so that each instance of the variable lists itself.
template <typename Tag>
constexpr int aligned = (static_cast<void>(&listed<Tag>), 32);

}  // namespace sim
