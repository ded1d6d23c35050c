// Kernels and launches: KERNEL<<<GRID, BLOCK>>>(ARGUMENTS) becomes
//
//     ::sim::launch(::sim::Configuration(GRID, BLOCK), "KERNEL", KERNEL)(ARGUMENTS)
//
// Where the arguments choose an overload or a template's arguments, no pointer to the function can be formed. A lambda
// that makes the call then takes its place. So all kernels of a name are noted before a launch is rewritten.

#include "launches.h"

#include <algorithm>

#include "refusals.h"

namespace rewrite {
namespace {

// True if the type is a plain number. Any other name may be another name of void.
bool returns_a_number(const Declaration& d)
{
    const auto any = [&](std::initializer_list<const char*> words) {
        return std::any_of(words.begin(), words.end(), [&](const char* word) { return d.has(word); });
    };
    return any({"int", "float", "double", "bool", "char", "short", "long", "unsigned", "size_t"}) &&
           !any({"void", "auto", "::", "*"});
}

// std = "namespace" "std" ("__attribute__" parens)? "{"     the outermost bracket around token i
bool in_std(const Source& s, int i)
{
    while (s[i].parent) i = s[i].parent;
    int name = i - 1;
    if (s.is(name, ")")) name = s[name].partner - 2;
    return s.is(name, "std") && s.is(name - 1, "namespace");
}

}  // namespace

// cast = "(" "const"? "void" "*" ")" | "reinterpret_cast" "<" "const"? "void" "*" ">"
void Launches::drop_cast(int call)
{
    const bool of_configuration = source_.is(call, "cudaLaunchKernelExC");
    if (!(of_configuration || source_.is_any(call, {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"})) ||
        !source_.is(call + 1, "("))
        return;
    const std::vector<Tokens> arguments = split(source_, call + 2, source_[call + 1].partner);
    if (arguments.size() < 3) return;
    const auto [first, last] = arguments[of_configuration];
    const bool cpp = source_.is(first, "reinterpret_cast");
    int i = first + cpp + 1;
    i += source_.is(i, "const");
    if (source_.is(i, "void") && source_.is(i + 1, "*") && source_.is(i + 2, cpp ? ">" : ")") && i + 3 < last)
        edits_.replace(first, i + 3, "");
}

void Launches::note_kernel(const Declaration& d)
{
    if (returns_a_number(d))
        refuse(source_, d.name, "a kernel returns nothing; write __global__ void " +
                                    std::string(source_.spelling(d.name)) + "(...), and store the result to memory");
    kernel_names_.insert(d.name);

    const int close = source_[d.stop].partner;
    const std::vector<Tokens> parameters = split(source_, d.stop + 1, close);
    const bool special = d.templated && (!d.header || source_.is(d.header + 1, ">"));  // specializes another template
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
        for (int i = first; i < last; i = past(source_, i))
            known->overloaded |= source_.is(i, "=");
    if (!d.header) return;

    size_t needed = 0;
    const std::vector<Tokens> header = split(source_, d.header + 1, d.header_end - 1);
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
    bool std_used = false;
    for (int i = 1; i < source_.count(); ++i) {
        std_used |= !source_[i].system && source_.is(i, "std") && source_.is(i - 1, "namespace") &&
                    source_.is(i - 2, "using");
        if (source_.is(i + 1, "(") && source_.is_word(i)) note_function(i);
    }
    for (auto& [name, namesakes] : kernels_)
        for (Kernel& k : namesakes) k.overloaded |= std_used && names_of_std_.count(name);
}

void Launches::note_function(int name)
{
    const std::string_view word = source_.spelling(name);
    if (source_[name].system) {
        if (kernels_.count(word) && in_std(source_, name)) names_of_std_.insert(word);
        return;
    }
    if (kernel_names_.count(name) || !at_namespace_scope(source_, name)) return;
    if (source_.is(source_[name + 1].partner + 1, "{")) defined_.insert(word);
    const auto namesakes = kernels_.find(word);
    if (namesakes == kernels_.end()) return;
    const std::string scope = scope_of(source_, name);
    for (Kernel& k : namesakes->second) k.overloaded |= k.scope == scope;
}

void Launches::check_kernel(const LaunchText& launch) const
{
    const int name = launch.name.second - 1;
    const std::string_view word = source_.spelling(name);
    if (launch.name.second - launch.name.first != 1 || kernels_.count(word) || !defined_.count(word)) return;
    int body = source_[name].parent;
    while (source_[body].parent && !at_namespace_scope(source_, body)) body = source_[body].parent;
    // A parameter or a variable of this name may point to a kernel.
    for (int i = source_.is(body - 1, ")") ? source_[body - 1].partner : body; i < name; ++i)
        if (source_.spelling(i) == word && !source_.is(i + 1, "(") && !is_launch(source_, i + 1)) return;
    const std::string named(word);
    refuse(source_, name, "a launch of " + named + ", which is no kernel; write __global__ void " + named + "(...)");
}

bool Launches::needs_lambda(const LaunchText& launch) const
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
    const LaunchText l(source_, open);
    check_kernel(l);
    const std::vector<Tokens> configuration = split(source_, open + 3, l.close);
    if (configuration.size() < 2 && !find_word(source_, open + 3, l.close, "..."))
        refuse(source_, open,
               "a launch needs a grid and a block, the number of blocks and that of a block's threads; write " +
                   source_.join(l.kernel.first, l.kernel.second) + "<<<blocks, threads>>>(...)");
    std::string quoted;
    for (char c : source_.join(l.kernel.first, l.kernel.second)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    edits_.before(l.kernel.first, "::sim::launch(::sim::Configuration(");
    std::string kernel = edits_.cut(l.kernel.first, l.kernel.second);
    if (needs_lambda(l))
        kernel =
            "[](auto... sim_arguments) __attribute__((no_sanitize(\"thread\", \"kernel-address\"))) -> decltype(void(" +
            kernel + "(sim_arguments...))) { " + kernel + "(sim_arguments...); }";
    edits_.replace(open, open + 3, "");
    edits_.replace(l.close, l.close + 3, "), \"" + quoted + "\", " + kernel + ")");
}

}  // namespace rewrite
