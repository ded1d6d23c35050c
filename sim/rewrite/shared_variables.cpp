// Variables in shared memory.
//
// A block runs on one host thread, so a __shared__ variable becomes a thread-local one that outlives the call. Dynamic
// shared memory (extern __shared__) has no array of its own, because its size is known at the launch only: its name
// becomes a pointer to the block's memory, or at namespace scope an object that converts to it.

#include "variables.h"

#include <algorithm>
#include <string_view>

#include "refusals.h"

namespace rewrite {

void Variables::shared_variable(const Declaration& d, bool of_kernel)
{
    for (int i = d.stop; i <= source_.count() && !source_.is(i, ";"); i = past(source_, i)) {
        const bool call = source_.is(i, "(") && i == d.stop && !source_.is_any(i + 1, {"*", "&"});
        if (source_.is_any(i, {"=", "{"}) || call)
            refuse(source_, i,
                   "a __shared__ variable cannot have an initializer; assign to it in one thread, then call "
                   "__syncthreads()");
    }
    qualify(d, "static __thread __attribute__((used, aligned(256))) ");
    gaps(d);
    const std::vector<std::pair<int, int>> declared = declarators(d);
    const int end = declared.back().second;
    for (const auto& [name, behind] : declared)
        edits_.first_after(end, " static_assert(sizeof " + std::string(source_.spelling(name)) +
                                    " <= 49152, \"nvcc allows 49152 bytes of __shared__ arrays; use dynamic "
                                    "shared memory and cudaFuncSetAttribute\");");
    std::string aligned;  // as it is told: by types and by numbers
    for (int w : d.words)
        if (source_.is_any(w, {"__align__", "alignas"}) && source_.is(w + 1, "("))
            aligned += "alignas(" + source_.join(w + 2, source_[w + 1].partner) + ") ";
    list(d, at_namespace_scope(source_, d.first) ? "shared" : of_kernel ? "shared_of_kernel" : "shared_of_function",
         aligned);
}

// array = "extern" "__shared__" type name "[" "]" brackets* ";"     the words in any order
void Variables::dynamic_shared(const Declaration& d)
{
    const int bound = d.stop;
    int end = bound;
    while (source_.is(end, "[")) end = source_[end].partner + 1;
    if (!source_.is(bound, "[") || source_[bound].partner != bound + 1 || !source_.is(end, ";"))
        refuse(source_, d.name,
               "an extern __shared__ variable is one array without a size; write extern __shared__ float name[];");

    // The words of the type, left to right, without the specifiers that belong to the storage.
    std::string type;
    for (int i = d.first; i < d.name; ++i) {
        const std::string_view word = source_.spelling(i);
        const bool attribute = word == "alignas" || word == "__align__" || begins_with(word, "__attribute");
        if (attribute || (word == "[" && source_.is(i + 1, "["))) i = source_[attribute ? i + 1 : i].partner;
        else if (word != "extern" && word != "static" && !is_space_word(source_, i))
            type += (type.empty() || source_.end_of(i - 1) == source_.begin_of(i) ? "" : " ") + std::string(word);
    }
    const std::string name(source_.spelling(d.name)), rest = source_.join(bound + 2, end);

    if (!at_namespace_scope(source_, d.first)) {
        const std::string pointer = rest.empty() ? type + "*" : type + " (*)" + rest;
        const std::string declarator =
            rest.empty() ? type + "* const " + name : type + " (* const " + name + ")" + rest;
        edits_.replace(d.first, end, declarator + " = static_cast<" + pointer + ">(::sim::dynamic_shared())");
        return;
    }
    // Each block has an address of its own: every use asks for it.
    const std::string known = scope_of(source_, d.first) + "::" + name;
    const bool again = std::find(dynamic_.begin(), dynamic_.end(), known) != dynamic_.end();
    dynamic_.push_back(known);
    dynamic_names_.push_back(source_.spelling(d.name));
    const std::string element = rest.empty() ? type : "sim_element";
    const std::string alias = rest.empty() ? "" : "using sim_element = " + type + rest + "; ";
    if (again) {
        edits_.replace(d.first, end, "static_assert(true, \"\")");
        return;
    }
    edits_.replace(d.first, end, filled(
        "static const struct { "
        "$conversion const { return static_cast<$element*>(::sim::dynamic_shared()); } } "
        "$name __attribute__((unused)) = {}",
        {{"conversion", alias + "operator " + element + "*()"},
         {"element", element},
         {"name", name}}));
}

void Variables::dynamic_shared_use(int i)
{
    if (std::find(dynamic_names_.begin(), dynamic_names_.end(), source_.spelling(i)) == dynamic_names_.end()) return;
    const int before = i - 1, after = i + 1;
    const bool cast = source_.is(before, ")") && source_.is(before - 1, "*");
    const bool begins = source_.is_any(before, {"(", ",", "=", "return"});
    const bool ends = source_.is_any(after, {")", ",", ";"});
    if (cast || (begins && ends)) edits_.before(i, "+");
}

}  // namespace rewrite
