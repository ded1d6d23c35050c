// Kernels, and the launches with <<<>>>.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "edits.h"
#include "syntax.h"

namespace rewrite {

// The __global__ functions of one name in one namespace.
struct Kernel {
    std::string scope;
    bool overloaded = false;
    int definitions = 0;
    size_t parameters = 0;
    bool templated = false, pack = false;
    size_t needed = 0;  // template arguments that a launch must give before the name is one function
};

class Launches {
public:
    Launches(const Source& source, Edits& edits) : source_(source), edits_(edits) {}

    void note_kernel(const Declaration& d);
    void note_launch(int open) { opens_.push_back(open); }
    // cudaLaunchKernel((void*)k, ...): the cast hides the parameters that the launch needs.
    void drop_cast(int call);
    // Rewrites all launches that were noted. Called when all kernels are known.
    void rewrite();

private:
    // A function of the host may have the name of a kernel, and call it. With `using namespace std`, one of the C++
    // library may have it, too: copy, for example.
    void note_functions_of_the_host();
    void note_function(int name);
    // Refuses the launch of a function that lacks __global__.
    void check_kernel(const LaunchText& launch) const;
    // True if the arguments of the launch choose an overload, or determine template arguments.
    bool needs_lambda(const LaunchText& launch) const;
    void rewrite(int open);

    const Source& source_;
    Edits& edits_;
    std::unordered_map<std::string_view, std::vector<Kernel>> kernels_;  // by name
    std::set<int> kernel_names_;  // where they are declared
    std::set<std::string_view> defined_, names_of_std_;  // functions that are no kernels; of std, kernels' namesakes
    std::vector<int> opens_;      // of the launches
};

}  // namespace rewrite
