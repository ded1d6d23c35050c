// The functions and variables of the running program, from the symbol table of its own file, and that file's sections.
// A stripped program has no such table, and cannot be simulated.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

struct Symbol {
    std::string_view name;  // mangled; in the program's file
    uint64_t address = 0;   // in this process; of a thread-local variable: in the program's thread-local storage
    uint64_t bytes = 0;
};

// Throws harness::Error if they are unknown: the names of kernels and the shared arrays of each are found by them.
void need_symbols();

// The function or the variable that holds an address; null if unknown.
// The address that a call returns to may lie in the next function: ask for the one before it.
const Symbol* function_at(uint64_t address);
const Symbol* object_at(uint64_t address);

// True if a byte of thread-local storage is the guard of an initializer in the function that accesses it: g++ has one
// for a shared object with a constructor. Another function's guard may lie behind an array whose end was missed.
bool is_guard(uint64_t offset, uint64_t return_address);

// Where the program's thread-local storage begins for the calling thread; 0 if it has none.
uintptr_t thread_local_base();

// The name as in the source; the same name if it is not mangled.
std::string demangle(const std::string& name);

// The name without the suffix of a part or a copy that a compiler made: k, of k.cold and k.constprop.0.
std::string source_function(const Symbol& function);

// True if the first is a function in the body of the second: of a local class, or a lambda.
bool is_inside(const Symbol& inner, const Symbol& function);

// The contents of a section, from an offset on; empty if there is none or it is compressed.
std::string_view section_contents(const char* name, uint64_t offset = 0);

// Gives back the memory that the file took to be read. It can be read again.
void forget_file();

// An address in this process minus the address in the file.
uint64_t load_address();

}  // namespace sim
