// Device functions: which of the compiler's checks they need, and the marker of a call in each of them.

#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "heap.h"
#include "indices.h"
#include "launches.h"
#include "loops.h"
#include "variables.h"

namespace rewrite {

class DeviceFunctions {
public:
    DeviceFunctions(const Source& source, Edits& edits, Variables& variables, Launches& launches)
        : source_(source), edits_(edits), variables_(variables), launches_(launches), loops_(source, edits),
          indices_(source, edits), heap_(source, edits, variables)
    {
    }

    // A kernel, or another function of the device.
    void function(const Declaration& d);
    // A lambda that is declared __device__.
    void lambda(int open);
    // True if the token lies in the function that was entered last, or in the kernel.
    bool in_function(int i) const { return i < device_end_; }
    bool in_kernel(int i) const { return i < kernel_end_; }
    // A variable of the device.
    void variable(std::string_view name) { indices_.variable(name); }
    // Called behind the last function.
    void end() { heap_.declare(); }

private:
    // True if this body may index an array of the thread's own: one that is declared there, or is a member.
    bool has_local_arrays(int open) const;
    bool has_barrier(int first, int last) const;  // of the block, in the program's own text
    // True if a function may access objects that need more alignment than their members: vectors of CUDA's, or the
    // program's own types; or if it casts a pointer, because g++ splits an access that it knows to be misaligned. A
    // template may have any type, and a member function has that of its class.
    bool has_aligned_types(const Declaration& d);
    void note_types();
    // Lets the compiler refuse a local array of variable length, if the `[` at `open` declares one.
    void fixed_length(int open);
    // __launch_bounds__(threads, ...): the simulator asks a kernel for it before a launch.
    void launch_bounds(const Declaration& d);
    // The body of a device function. `marked`: constant expressions cannot hold markers.
    void body(int open, bool call, bool marked);

    const Source& source_;
    Edits& edits_;
    Variables& variables_;
    Launches& launches_;
    Loops loops_;
    Indices indices_;
    Heap heap_;
    std::set<std::string_view> types_;  // that the program declares
    int device_end_ = 0;                // of the device function that was entered last
    int kernel_end_ = 0;                // of the kernel that was entered last
    int any_barrier_ = -1;              // in the program's text; -1: not known yet
};

}  // namespace rewrite
