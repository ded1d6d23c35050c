// The rewriter of one file: from preprocessed CUDA C++ to C++ for the simulator. Its functions are in several files,
// one for each part of CUDA's syntax.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "edits.h"
#include "syntax.h"
#include "tokens.h"

namespace rewrite {

// Thrown where a file that was given as plain C++ has kernels or launches.
struct HasKernels {};

// Which compiler of the program a file is for.
enum class Language { cuda, cpp, c };

// The __global__ functions of one name in one namespace.
struct Kernel {
    std::string scope;
    bool overloaded = false;
    int definitions = 0;
    size_t parameters = 0;
    bool templated = false, pack = false;
    size_t needed = 0;  // template arguments that a launch must give before the name is one function
};

class Rewriter {
public:
    Rewriter(const Source& source, Language language) : source_(source), edits_(source), language_(language) {}

    // The text, rewritten. Where `name` is not empty, what is not included lies in an inline namespace of
    // that name. `plain_host`: the accesses of functions that only the host calls are not watched. `added`: a folder of
    // headers of libraries (libraries.h), or empty.
    std::string run(const std::string& name, bool plain_host, const std::string& added);

private:
    // rewriter.cpp: the text as a whole, and its words of CUDA
    void wrap(const std::string& name);
    void leave_host_plain();
    int cuda_word(int i);
    int declaration(int i);
    void forced_inline(int i);

    // functions.cpp: device functions, and their checks and markers of calls
    void lambda(int open);
    void device_function(const Declaration& d);
    bool has_local_arrays(int open) const;
    bool has_aligned_types(const Declaration& d);
    void note_types();
    void launch_bounds(const Declaration& d);
    void body(int open, bool call, bool marked);

    // loops.cpp: markers of turns
    void loop(int keyword, int head_end, const std::vector<int>& gotos);
    bool entered_elsewhere(int first, int last, const std::vector<int>& gotos) const;

    // shared_variables.cpp
    void shared_variable(const Declaration& d);
    void dynamic_shared(const Declaration& d);
    void dynamic_shared_use(int i);

    // variables.cpp: variables of the device, and what all variables have
    std::vector<std::pair<int, int>> declarators(const Declaration& d) const;
    void gaps(const Declaration& d);
    void qualify(const Declaration& d, const std::string& specifiers);
    void device_variable(const Declaration& d);
    bool is_table(const Declaration& d) const;
    void table(const Declaration& d);

    // launches.cpp: kernels, and <<<>>>
    void note_kernel(const Declaration& d);
    void note_functions_of_the_host();
    bool needs_lambda(const Launch& launch) const;
    void launch(int open);

    // heap.cpp: malloc, free, new and delete in device code
    void heap_word(int i);

    // refusals.cpp: what the simulator cannot run
    void check_namespace_word(int i) const;
    void check_runtime_word(int i) const;
    void check_device_word(int i) const;
    [[noreturn]] void refuse(int i, const std::string& what) const { throw Refusal{source_.begin_of(i), what}; }

    const Source& source_;
    Edits edits_;
    const Language language_;
    std::unordered_map<std::string_view, std::vector<Kernel>> kernels_;  // by name
    std::set<int> kernel_names_;  // where they are declared
    std::vector<int> launches_;
    std::vector<std::string> dynamic_;  // arrays of dynamic shared memory at namespace scope, with their scope
    std::vector<std::string_view> dynamic_names_;
    std::set<std::string_view> types_;  // that the program declares
    std::set<std::string> templates_;   // of device variables, with their scope
    int declared_ = 0;                  // up to here, space words belong to a declaration that is done
    int device_end_ = 0;                // of the device function that was entered last
    int kernel_end_ = 0;                // of the kernel that was entered last
    int loops_ = 0, arrays_ = 0;
    bool heap_ = false;                 // device code allocates
};

}  // namespace rewrite
