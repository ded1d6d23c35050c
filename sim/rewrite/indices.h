// Arrays of a thread that are indexed at run time, and atomic operations on an address that lanes share.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "edits.h"
#include "syntax.h"

namespace rewrite {

// A device function: the `(` of its parameters, and its `{`.
struct Body {
    int parameters, open;
    bool of_kernel;
};

// True if the statement of token i declares it.
bool declares(const Source& source, int i);

class Indices {
public:
    Indices(const Source& source, Edits& edits) : source_(source), edits_(edits) {}

    void variable(std::string_view name) { variables_.insert(name); }  // of the device
    void function(std::string_view name, const Body& body);

private:
    enum Question { at_compile_time, among_lanes };
    struct Use {
        unsigned dynamic = 0, cost = 0;  // as launch.h has them
    };
    using Uses = std::map<std::pair<int, std::string>, Use>;  // by declaration, and the `.member` that is the array

    int declared(int i) const;
    bool is_parameter(int declaration) const { return declaration < body_.open; }
    bool depends(int first, int last);
    bool variable_depends(int declaration);
    int root(int i, unsigned& dynamic);
    Uses uses();
    void local_arrays();
    void atomic(int i);

    const Source& source_;
    Edits& edits_;
    std::set<std::string_view> variables_;
    // Functions that index an array they get: 1 if by a parameter, 2 if by what is not known anyway.
    std::map<std::string_view, unsigned> functions_;
    int locals_ = 0;
    // The function and the question in hand.
    Body body_{};
    Question question_ = at_compile_time;
    bool known_parameters_ = false;
    std::set<int> asked_;  // variables, in answer to the question of others
};

}  // namespace rewrite
