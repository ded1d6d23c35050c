// Kernels and launches: KERNEL<<<GRID, BLOCK>>>(ARGUMENTS) becomes
//
//     ::sim::launch(::sim::Configuration(GRID, BLOCK), "KERNEL", KERNEL)(ARGUMENTS)
//
// Where the arguments choose an overload or a template's arguments, no pointer to the function can be formed. A lambda
// that makes the call stands in its place then. To know, all kernels of a name are noted first.

#include "launches.h"

#include <algorithm>

namespace rewrite {

void Launches::note_kernel(const Declaration& d)
{
    kernel_names_.insert(d.name);
    const int close = source_[d.stop].partner;
    const std::vector<Range> parameters = split(source_, d.stop + 1, close);
    const bool special = d.templated && (!d.header || source_.is(d.header + 1, ">"));  // of another template
    if (special) return;
    const std::string scope = scope_of(source_, d.first);
    std::vector<Kernel>& namesakes = kernels_[source_.spelling(d.name)];
    auto known = std::find_if(namesakes.begin(), namesakes.end(), [&](const Kernel& k) { return k.scope == scope; });
    if (known == namesakes.end()) {
        known = namesakes.emplace(namesakes.end());
        known->scope = scope;
        known->parameters = parameters.size();
    }
    known->definitions += d.body != 0;
    known->overloaded |= known->definitions > 1 || known->parameters != parameters.size();
    // A pointer to a function knows nothing of default arguments.
    for (const auto& [first, last] : parameters)
        for (int i = first; i < last; i = source_.opens(i) ? source_[i].partner + 1 : i + 1)
            known->overloaded |= source_.is(i, "=");
    if (!d.header) return;

    size_t needed = 0;
    const std::vector<Range> header = split(source_, d.header + 1, d.header_end - 1);
    for (size_t n = 0; n < header.size(); ++n) {
        const auto [first, last] = header[n];
        const int equals = find_word(source_, first, last, "=");
        const int name = (equals ? equals : last) - 1;
        known->pack |= find_word(source_, first, last, "...") != 0;
        // The arguments of the launch overrule a default.
        const bool deduced = source_.is_word(name) && find_word(source_, d.stop, close, source_.spelling(name));
        if (!equals || deduced) needed = n + 1;
    }
    // Only one of several declarations has the default.
    known->needed = known->templated ? std::min(known->needed, needed) : needed;
    known->templated = true;
}

void Launches::note_functions_of_the_host()
{
    for (int i = 1; i < source_.count(); ++i) {
        if (source_[i].system || !source_.is(i + 1, "(") || !source_.is_word(i)) continue;
        const auto namesakes = kernels_.find(source_.spelling(i));
        if (namesakes == kernels_.end() || kernel_names_.count(i) || !at_namespace_scope(source_, i)) continue;
        const std::string scope = scope_of(source_, i);
        for (Kernel& k : namesakes->second) k.overloaded |= k.scope == scope;
    }
}

bool Launches::needs_lambda(const Launch& launch) const
{
    const int name = launch.name.second - 1;
    const auto namesakes = kernels_.find(source_.spelling(name));
    if (namesakes == kernels_.end()) return false;
    const std::vector<Kernel>& kernels = namesakes->second;

    // Several namespaces may have a kernel of this name. If the launch names one of them, only its kernels count.
    std::string qualifier = source_.is(name - 1, "::") ? source_.join(launch.name.first, name - 1) : "";
    if (qualifier.compare(0, 2, "::")) qualifier.insert(0, "::");
    const auto qualified = [&](const Kernel& k) {
        const std::string scope = "::" + k.scope;
        return scope.size() >= qualifier.size() &&
               !scope.compare(scope.size() - qualifier.size(), qualifier.size(), qualifier);
    };
    const bool any = std::none_of(kernels.begin(), kernels.end(), qualified);
    const size_t given = split(source_, launch.arguments.first, launch.arguments.second).size();
    return std::any_of(kernels.begin(), kernels.end(), [&](const Kernel& k) {
        const bool deduced = k.templated && (!launch.arguments.first || k.pack || given < k.needed);
        return (any || qualifier == "::" || qualified(k)) && (k.overloaded || deduced);
    });
}

void Launches::rewrite()
{
    if (!opens_.empty()) note_functions_of_the_host();
    for (int open : opens_) rewrite(open);
}

void Launches::rewrite(int open)
{
    const Launch l(source_, open);
    std::string quoted;
    for (char c : source_.join(l.kernel.first, l.kernel.second)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    edits_.before(l.kernel.first, "::sim::launch(::sim::Configuration(");
    std::string kernel = edits_.cut(l.kernel.first, l.kernel.second);
    if (needs_lambda(l))
        kernel =
            "[](auto... sim_arguments) __attribute__((no_sanitize(\"thread\"))) { " + kernel + "(sim_arguments...); }";
    edits_.replace(open, open + 3, "");
    edits_.replace(l.close, l.close + 3, "), \"" + quoted + "\", " + kernel + ")");
}

}  // namespace rewrite
