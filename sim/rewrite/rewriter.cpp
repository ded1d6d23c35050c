// One pass over the tokens of the program's own text finds the words of CUDA and the launches. A word that says where a
// variable or a function lives leads to its declaration, which is rewritten as a whole; a device function also has its
// body searched for loops, lambdas and what the simulator refuses. Launches come last, when all kernels are known:
// whether a launch must leave the choice of an overload to the compiler depends on kernels that may be declared behind
// it. System headers are never changed. The cost is linear in the tokens, but for the look at the declarations around
// them.

#include "rewriter.h"

#include <algorithm>
#include <map>

#include "libraries.h"
#include "refusals.h"

namespace rewrite {

std::string Rewriter::run(const std::string& name, bool plain_host, const std::string& added, const Source* host)
{
    if (!added.empty())
        if (const LibraryNames names = library_names(source_, added); names.at) edits_.before(names.at, names.text);
    if (!name.empty()) wrap(name);
    if (language_ == Language::cuda) leave_host_plain(plain_host, host);
    for (int i = 1; i <= source_.count(); ++i) {
        if (source_[i].system) continue;
        const char c = source_.first_of(i);
        if (c == '_' && begins_with(source_.spelling(i), "__")) {
            // `extern "C"__global__`: to nvcc the word is a macro, to the compiler a suffix of the literal.
            if (source_[i - 1].kind == Token::text && source_.end_of(i - 1) == source_.begin_of(i))
                edits_.after(i - 1, " ");
            i = cuda_word(i);
        } else if (c == '<' && is_launch(source_, i)) {
            if (language_ != Language::cuda) throw HasKernels{};
            if (functions_.in_function(i))
                refuse(source_, i,
                       "a launch inside a kernel or a __device__ function (dynamic parallelism) is not supported by "
                       "the simulator; launch from the host");
            launches_.note_launch(i);
            i += 2;
        } else if (c == 't' || c == 'n') {
            check_namespace_word(source_, i);
        } else if (c == 'c' && begins_with(source_.spelling(i), "cu")) {
            check_runtime_word(source_, i);
            launches_.drop_cast(i);
            if (is_discarded_call(i)) {  // an operand that is a call itself loses its column in g++
                edits_.before(i - source_.is(i - 1, "::"),
                              "::sim::Discarded{\"" + std::string(source_.spelling(i)) + "\"}, ({ ");
                edits_.after(source_[i + 1].partner, "; })");
            }
        }
    }
    check_declared(source_);
    variables_.check_constants();
    launches_.rewrite();
    functions_.end();
    return edits_.apply();
}

void Rewriter::leave_host_plain(bool wanted, const Source* host)
{
    constexpr char plain[] = "__attribute__((no_sanitize(\"thread\", \"kernel-address\", \"bounds\", \"alignment\"))) ";
    const HostFunctions found = host_functions(source_);  // which checks the calls, too
    if (host) add_host_branches(found.bodies, *host);
    if (!wanted) return;
    if (!found.sure) edits_.after(source_.count(), "\n// sim: ask clang\n");  // for sim/simcuda
    for (int i : found.functions) edits_.before(i, plain);
    for (const Returned& r : found.returned) {
        const std::string name(source_.spelling(r.name)), kept = "sim_kept_" + name;
        const bool equals = source_.is(r.name + 1, "=");
        edits_.before(r.first, "::sim::Kept " + kept + "([&]() " + plain + "-> ");
        edits_.replace(r.name, r.name + 1 + equals,
                       "{ return " + (equals ? "" : r.type) + (r.end == r.name + 1 ? "()" : ""));
        edits_.before(r.end, "; })");
        edits_.after(r.end, " auto& " + name + " = " + kept + ".object;");
        for (int i : r.returns) edits_.replace(i + 1, i + 2, kept + ".give()");
    }
    for (const auto& [i, no_parameters] : found.lambdas)
        edits_.after(i, (no_parameters ? " () " : " ") + std::string(plain));
}

// __CUDA_ARCH__ is defined in device code alone. A function for both sides gets both bodies if they differ. In a
// function of the host, the tokens that differ are replaced.
void Rewriter::add_host_branches(const std::vector<FunctionBody>& bodies, const Source& host)
{
    std::map<std::string, int> others;  // the `{` in the host's text, by the place of the name
    const auto place = [](const Source& s, int i) {
        const Position at = position_in(s.text(), s.begin_of(i), "");
        return at.file + ":" + std::to_string(at.line) + ":" + std::string(s.spelling(i));
    };
    for (const FunctionBody& b : host_functions(host, false).bodies) others[place(host, b.name)] = b.open;
    for (const FunctionBody& b : bodies) {
        const auto other = others.find(place(source_, b.name));
        if (other == others.end()) continue;
        int first = b.open, last = source_[first].partner, from = other->second, to = host[from].partner;
        const int close = last, open = from;
        while (first < last && from < to && source_.spelling(first) == host.spelling(from)) ++first, ++from;
        while (first < last && from < to && source_.spelling(last - 1) == host.spelling(to - 1)) --last, --to;
        if (first == last && from == to) continue;
        if (!b.of_host) from = open + 1, to = host[open].partner;
        const std::string text = " " + host.join(from, to) + " ";
        if (text.find("<<<") != std::string::npos)
            refuse(source_, b.name, "a launch that depends on __CUDA_ARCH__ is not supported by the simulator; "
                                    "launch from another function");
        if (!b.of_host) {
            edits_.after(b.open, " if (!::sim::in_kernel()) {" + text + "} else {");
            edits_.before(close, "}");
        } else if (first < last) {
            edits_.replace(first, last, text);
        } else {
            edits_.before(first, text);
        }
    }
}

// True if this is a statement that calls the runtime and does not look at the result.
bool Rewriter::is_discarded_call(int i) const
{
    const std::string_view word = source_.spelling(i);
    if (word.size() < 5 || word[4] < 'A' || word[4] > 'Z' || word.find("LastError") != word.npos ||
        !source_.is(i + 1, "(") || !source_.is(source_[i + 1].partner + 1, ";") || functions_.in_function(i))
        return false;
    const int before = source_.is(i - 1, "::") ? i - 2 : i - 1;
    if (source_.is(before, ")")) return source_.is_any(source_[before].partner - 1, {"if", "for", "while"});
    for (int i = before; source_.is(before, ":"); --i) {  // of a label, or behind a `?`
        if (source_.is(i, "?")) return false;
        if (source_.is_any(i, {";", "{", "}"})) return true;
    }
    return source_.is_any(before, {";", "{", "}", "else", "do"});
}

// Makes one namespace for each run of declarations between included files.
void Rewriter::wrap(const std::string& name)
{
    int last = 0;  // the last token outside all brackets
    bool open = false;
    for (int i = 1; i <= source_.count(); ++i) {
        if (source_[i].parent) continue;
        const bool own = source_[i].own;
        if (own != open) {
            if (own) edits_.before(i, "inline namespace " + name + " { ");
            else edits_.after(last, " }");
            open = own;
        }
        last = i;
    }
    if (open) edits_.after(last, " }");
}

// Rewrites the word at i; returns the last token that is done.
int Rewriter::cuda_word(int i)
{
    const std::string_view word = source_.spelling(i);
    const bool call = source_.is(i + 1, "(");
    if (is_space_word(source_, i) && language_ != Language::cuda) {
        if (word == "__global__" && Declaration(source_, i).body) throw HasKernels{};
        edits_.remove(i);
        return i;
    }
    if (is_space_word(source_, i)) return i < declared_ ? i : declaration(i);
    if (word == "__host__" || word == "__grid_constant__") {
        edits_.remove(i);
    } else if (word == "__forceinline__") {
        forced_inline(i);
    } else if (word == "__noinline__") {
        // g++'s own __attribute__((__noinline__)) stays.
        const int inner = source_[i].parent, outer = source_[inner].parent;
        if (!(inner && outer == inner - 1 && begins_with(source_.spelling(outer - 1), "__attribute")))
            edits_.replace(i, i + 1, "__attribute__((noinline))");
    } else if (word == "__align__" && call) {
        edits_.replace(i, i + 2, "__attribute__((aligned(");
        edits_.after(source_[i + 1].partner, "))");
    } else if ((word == "__launch_bounds__" || word == "__maxnreg__") && call) {
        edits_.remove_call(i);
        return source_[i + 1].partner;
    } else if (word == "__cluster_dims__") {
        refuse(source_, i, "clusters of blocks are not supported by the simulator; remove __cluster_dims__");
    }
    return i;
}

// The declaration with a space word at i; returns the last token that is done.
int Rewriter::declaration(int i)
{
    if (const int open = lambda_around(source_, i)) {
        edits_.remove(i);
        functions_.lambda(open);
        return i;
    }
    const Declaration d(source_, i);
    declared_ = std::max(d.stop, i + 1);
    const bool unplaced = d.has("typedef") || d.has("using");
    const bool variable = !d.function && !unplaced;
    const bool shared = d.has("__shared__");
    if (d.has("__global__") && !d.function)
        refuse(source_, i,
               "__global__ stands before something that is not a function; write __global__ void name(parameters)");
    if (shared && d.has("extern")) {
        variables_.dynamic_shared(d);
        return i;
    }
    for (int w : d.words)
        if (source_.is(w, "__global__")) edits_.replace(w, w + 1, "__attribute__((noinline, noipa))");
        else if (is_space_word(source_, w)) edits_.remove(w);
    if (shared) variables_.shared_variable(d, functions_.in_kernel(d.first));
    else if (variable && !(functions_.in_function(d.first) && d.has("static") && !d.has("__constant__")))
        variables_.device_variable(d, functions_.in_function(d.first)), functions_.variable(source_.spelling(d.name));
    else if (d.function && !unplaced) functions_.function(d);
    return i;
}

// `inline`, once: compilers refuse a second one, and one at a lambda.
void Rewriter::forced_inline(int i)
{
    bool dropped = lambda_around(source_, i) != 0;
    if (!dropped) {
        const Declaration d(source_, i);
        const auto first =
            std::find_if(d.words.begin(), d.words.end(), [&](int w) { return source_.is(w, "__forceinline__"); });
        dropped = d.has_inline() || first == d.words.end() || *first != i;
    }
    edits_.replace(i, i + 1, dropped ? "" : "inline");
}

}  // namespace rewrite
