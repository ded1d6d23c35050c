// Functions that only the host calls.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tokens.h"

namespace rewrite {

// A local variable that its function returns by its name.
struct Returned {
    int first, name;   // of its declaration: `const Buffer b`
    int end;           // the `;`
    std::string type;  // without `const`
    std::vector<int> returns;  // each `return`
};

struct FunctionBody {
    int name, open;  // of the function, and the `{`
    bool of_host;    // alone
};

// Where an attribute goes that keeps the compiler from watching a function's accesses.
struct HostFunctions {
    std::vector<int> functions;                 // the token in front of which it goes
    std::vector<Returned>
        returned;  // in these functions: objects whose destructor must not run after their copy was made
    std::vector<std::pair<int, bool>> lambdas;  // the token behind which it goes, and whether `()` must come first
    std::vector<FunctionBody> bodies;                   // of all functions that the host may call
    // False if there are members for one side alone, or a name has several meanings: names do not tell who calls them.
    bool sure = true;
};

// The functions that are defined in the program's own text and that device code does not call. `check`: throws Refusal
// where one side calls a function of the other (sides.h).
HostFunctions host_functions(const Source& source, bool check = true);

}  // namespace rewrite
