// Variables of the device (variables.cpp) and of shared memory (shared_variables.cpp).

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edits.h"
#include "syntax.h"

namespace rewrite {

class Variables {
public:
    Variables(const Source& source, Edits& edits) : source_(source), edits_(edits) {}

    void device_variable(const Declaration& d, bool in_function);
    void local_static(const Declaration& d);
    // `of_kernel`: it is declared in the body of a kernel.
    void shared_variable(const Declaration& d, bool of_kernel);
    void dynamic_shared(const Declaration& d);
    // Dynamic shared memory at namespace scope is an object that converts to a pointer. In a cast, or as an argument of
    // a template, it does so only after a unary +.
    void dynamic_shared_use(int i);
    // Refuses stores to __constant__ variables. Called when all are known.
    void check_constants() const;

    // The code behind a variable that registers it: a record (core/memory/declared.h) of this kind, as a static object
    // or as a class that something else lists. `variable`: the name with its scope. `told`: the alignment that the
    // variable is to have.
    std::string record(bool object, const std::string& kind, const std::string& name, const std::string& variable,
                       const std::string& told = "1");

private:
    std::vector<std::pair<int, int>> declarators(const Declaration& d) const;
    void gaps(const Declaration& d);
    void qualify(const Declaration& d, const std::string& specifiers);
    std::string variable_at(int name) const;
    void list(const Declaration& d, const std::string& kind, const std::string& aligned = "");
    std::string template_record(const Declaration& d, const std::string& kind);
    // True if a declaration is of one constant array.
    bool is_table(const Declaration& d) const;
    void table(const Declaration& d);

    const Source& source_;
    Edits& edits_;
    std::vector<std::string> dynamic_;  // arrays of dynamic shared memory at namespace scope, with their scope
    std::vector<std::string_view> dynamic_names_;
    std::map<std::string_view, int> constants_;  // __constant__ variables, and the dimensions of each
    int records_ = 0;
};

}  // namespace rewrite
