// Objects of a thread that may be indexed, and atomic operations on an address that lanes share.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
    // A class of the program, or an alias of one or of an array.
    void class_name(std::string_view name) { classes_.insert(name); }
    bool is_class(std::string_view name) const { return classes_.count(name) != 0; }
    void function(std::string_view name, const Body& body);

private:
    enum Question { at_compile_time, among_lanes };

    int declared(int i) const;
    bool is_parameter(int declaration) const { return declaration < body_.open; }
    bool depends(int first, int last);
    bool variable_depends(int declaration);
    bool loop_depends(int head);
    bool happens_if(int i, int declaration);
    int root(int i, bool& not_known);
    std::map<int, unsigned> unknown();
    void announce(int declaration, unsigned cost);
    void announce_parameters();
    void atomic(int i);

    const Source& source_;
    Edits& edits_;
    std::set<std::string_view> variables_, classes_;
    // Functions that index an array they get: 1 if by a parameter, 2 if by what is not known anyway.
    std::map<std::string_view, unsigned> functions_;
    // The function and the question in hand.
    Body body_{};
    Question question_ = at_compile_time;
    bool known_parameters_ = false;
    std::vector<int> gotos_;
    std::set<int> no_constants_;  // words `const` that were taken away
    std::set<int> asked_;  // variables, in answer to the question of others
};

}  // namespace rewrite
