// Rewrites preprocessed CUDA C++ as C++ for the simulator: launches with <<<>>>, and the words __global__,
// __device__, __shared__ and so on.
//
//   g++ -E -x c++ program.cu | rewrite > program.ii
//
// A file of the program that is plain C++ or C (--host, --c) only loses the words of CUDA, and is checked for what the
// simulator cannot run.
//
// Every line keeps its number: text is inserted and replaced, newlines stay. Markers report what
// device code does: each loop its turns, each __device__ function and each lambda its calls.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "headers.h"
#include "host.h"
#include "libraries.h"
#include "syntax.h"
#include "tokens.h"
#include "undeclared.h"

namespace rewrite {
namespace {

// Changes of a text, collected in any order.
class Edits {
public:
    explicit Edits(const Source& source) : source_(source) {}

    void before(int token, std::string what) { insert(source_.begin_of(token), std::move(what), false); }
    void after(int token, std::string what) { insert(source_.end_of(token), std::move(what), false); }
    // In front of all else that stands after it.
    void first_after(int token, std::string what) { insert(source_.end_of(token), std::move(what), true); }

    // Tokens [first, last). Newlines that the new text lacks are added behind it.
    void replace(int first, int last, std::string what)
    {
        const size_t begin = source_.begin_of(first), end = source_.end_of(last - 1);
        const auto newlines = [](auto from, auto to) { return std::count(from, to, '\n'); };
        const auto missing = newlines(source_.text().begin() + begin, source_.text().begin() + end) - newlines(what.begin(), what.end());
        if (missing > 0) what.append(missing, '\n');
        change(begin, end, std::move(what));
    }
    void remove(int token) { replace(token, token + 1, ""); }
    void remove_call(int word) { replace(word, source_[word + 1].partner + 1, ""); }

    // Takes tokens [first, last) away, newlines and all, to stand elsewhere.
    std::string cut(int first, int last)
    {
        const size_t begin = source_.begin_of(first), end = source_.end_of(last - 1);
        change(begin, end, "");
        return source_.text().substr(begin, end - begin);
    }

    // The text with all changes. A change inside of what another one replaces is dropped.
    std::string apply()
    {
        // Insertions first, in the order in which they were made, then the longest replacement.
        std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
            if (a.begin != b.begin) return a.begin < b.begin;
            const bool a_inserts = a.begin == a.end, b_inserts = b.begin == b.end;
            return a_inserts != b_inserts ? a_inserts : a_inserts ? a.first && !b.first : a.end > b.end;
        });
        const std::string& text = source_.text();
        std::string out;
        out.reserve(text.size() + text.size() / 8);
        size_t done = 0;
        for (const Edit& edit : edits_) {
            if (edit.begin < done) continue;
            out.append(text, done, edit.begin - done);
            out += edit.what;
            done = edit.end;
        }
        return out.append(text, done, std::string::npos);
    }

private:
    struct Edit {
        size_t begin, end;
        std::string what;
        bool first;
    };
    void change(size_t begin, size_t end, std::string what) { edits_.push_back({begin, end, std::move(what), false}); }
    void insert(size_t at, std::string what, bool first) { edits_.push_back({at, at, std::move(what), first}); }

    const Source& source_;
    std::vector<Edit> edits_;
};

// The __global__ functions of one name in one namespace.
struct Kernel {
    std::string scope;
    bool overloaded = false;
    int definitions = 0;
    size_t parameters = 0;
    bool templated = false, pack = false;
    size_t needed = 0;  // template arguments that a launch must give before the name is one function
};

bool follows_if(const Source& source, int i)
{
    return source.is(i - 1, "if") || (source.is(i - 1, "constexpr") && source.is(i - 2, "if"));
}

bool begins_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

// Thrown where a file that was given as plain C++ has kernels or launches.
struct HasKernels {};

// Which compiler of the program a file is for.
enum class Language { cuda, cpp, c };

// float4, ulonglong2, half2, cuDoubleComplex and so on.
bool is_vector_type(std::string_view word)
{
    if (begins_with(word, "cu") && word.find("Complex") != word.npos) return true;
    for (std::string_view alignment : {"_16a", "_32a"})  // double4_16a
        if (word.size() > 4 && word.substr(word.size() - 4) == alignment) word.remove_suffix(4);
    if (word.size() < 2 || word.back() < '2' || word.back() > '4') return false;
    word.remove_suffix(1);
    if (word.front() == 'u') word.remove_prefix(1);
    for (const char* number : {"char", "short", "int", "long", "longlong", "float", "double", "half", "__half", "__nv_bfloat16", "nv_bfloat16"})
        if (word == number) return true;
    return false;
}

class Rewriter {
public:
    Rewriter(const Source& source, Language language) : source_(source), edits_(source), language_(language) {}

    // The text, rewritten. Where `name` is not empty, what is not included lies in an inline namespace of
    // that name. `plain_host`: the accesses of functions that only the host calls are not watched. `added`: a folder of
    // headers of libraries (libraries.h), or empty.
    std::string run(const std::string& name, bool plain_host, const std::string& added);

private:
    void wrap(const std::string& name);
    void leave_host_plain();
    int cuda_word(int i);
    int declaration(int i);
    void forced_inline(int i);
    void lambda(int open);
    void device_function(const Declaration& d);
    bool has_local_arrays(int open) const;
    bool has_aligned_types(const Declaration& d);
    void note_types();
    void body(int open, bool call, bool marked);
    void loop(int keyword, int head_end, const std::vector<int>& gotos);
    bool entered_elsewhere(int first, int last, const std::vector<int>& gotos) const;
    void shared_variable(const Declaration& d);
    std::vector<std::pair<int, int>> declarators(const Declaration& d) const;
    void gaps(const Declaration& d);
    void qualify(const Declaration& d, const std::string& specifiers);
    void dynamic_shared(const Declaration& d);
    void dynamic_shared_use(int i);
    void device_variable(const Declaration& d);
    bool is_table(const Declaration& d) const;
    void table(const Declaration& d);
    void note_kernel(const Declaration& d);
    void note_functions_of_the_host();
    void launch_bounds(const Declaration& d);
    bool needs_lambda(const Launch& launch) const;
    void launch(int open);
    void check_namespace_word(int i) const;
    void check_runtime_word(int i) const;
    void check_device_word(int i) const;
    void heap_word(int i);
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

std::string Rewriter::run(const std::string& name, bool plain_host, const std::string& added)
{
    if (!added.empty())
        if (const LibraryNames names = library_names(source_, added); names.at) edits_.before(names.at, names.text);
    if (!name.empty()) wrap(name);
    if (plain_host) leave_host_plain();
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
            if (i < device_end_)
                refuse(i, "a launch inside a kernel or a __device__ function (dynamic parallelism) is not supported by the simulator; launch from the host");
            launches_.push_back(i);
            i += 2;
        } else if (c == 't' || c == 'n') {
            check_namespace_word(i);
        } else if (c == 'c' && begins_with(source_.spelling(i), "cu")) {
            check_runtime_word(i);
        }
    }
    check_declared(source_);
    if (!launches_.empty()) note_functions_of_the_host();
    for (int open : launches_) launch(open);
    if (heap_) edits_.after(source_.count(), " extern \"C\" { __attribute__((section(\"sim_device\"), weak)) char device_heap[::sim::device_heap_bytes] = {}; }");
    return edits_.apply();
}

void Rewriter::leave_host_plain()
{
    constexpr char plain[] = "__attribute__((no_sanitize(\"thread\", \"bounds\", \"alignment\"))) ";
    const HostFunctions found = host_functions(source_);
    for (int i : found.functions) edits_.before(i, plain);
    for (const Returned& r : found.returned) {
        const std::string name(source_.spelling(r.name)), kept = "sim_kept_" + name;
        const bool equals = source_.is(r.name + 1, "=");
        edits_.before(r.first, "::sim::Kept " + kept + "([&]() " + plain + "-> ");
        edits_.replace(r.name, r.name + 1 + equals, "{ return " + (equals ? "" : r.type) + (r.end == r.name + 1 ? "()" : ""));
        edits_.before(r.end, "; })");
        edits_.after(r.end, " auto& " + name + " = " + kept + ".object;");
        for (int i : r.returns) edits_.replace(i + 1, i + 2, kept + ".give()");
    }
    for (const auto& [i, no_parameters] : found.lambdas)
        edits_.after(i, (no_parameters ? " () " : " ") + std::string(plain));
}

// One namespace for each run of declarations between what is included.
void Rewriter::wrap(const std::string& name)
{
    const std::vector<size_t> ranges = own_ranges(source_.text());
    size_t next = 0;  // ranges[0] to ranges[next - 1] begin or end before the token
    int last = 0;     // the last token outside all brackets
    bool open = false;
    for (int i = 1; i <= source_.count(); ++i) {
        if (source_[i].parent) continue;
        while (next < ranges.size() && ranges[next] <= source_.begin_of(i)) ++next;
        const bool own = next % 2 == 1;
        if (own != open) {
            if (own) edits_.before(i, "inline namespace " + name + " { ");
            else edits_.after(last, " }");
            open = own;
        }
        last = i;
    }
    if (open) edits_.after(last, " }");
}

// --- words of CUDA

// Rewrites the word at i; returns the last token that is done.
int Rewriter::cuda_word(int i)
{
    const std::string_view word = source_.spelling(i);
    const bool call = source_.is(i + 1, "(");
    if (is_space_word(word) && language_ != Language::cuda) {
        if (word == "__global__" && Declaration(source_, i).body) throw HasKernels{};
        edits_.remove(i);
        return i;
    }
    if (is_space_word(word)) return i < declared_ ? i : declaration(i);
    if (word == "__host__" || word == "__grid_constant__") {
        edits_.remove(i);
    } else if (word == "__forceinline__") {
        forced_inline(i);
    } else if (word == "__noinline__") {
        // g++'s own __attribute__((__noinline__)) stays.
        const int inner = source_[i].parent, outer = source_[inner].parent;
        if (!(inner && outer == inner - 1 && begins_with(source_.spelling(outer - 1), "__attribute"))) edits_.replace(i, i + 1, "__attribute__((noinline))");
    } else if (word == "__align__" && call) {
        edits_.replace(i, i + 2, "__attribute__((aligned(");
        edits_.after(source_[i + 1].partner, "))");
    } else if ((word == "__launch_bounds__" || word == "__maxnreg__") && call) {
        edits_.remove_call(i);
        return source_[i + 1].partner;
    } else if (word == "__cluster_dims__") {
        refuse(i, "clusters of blocks are not supported by the simulator; remove __cluster_dims__");
    }
    return i;
}

// The declaration with a space word at i; returns the last token that is done.
int Rewriter::declaration(int i)
{
    if (const int open = lambda_around(source_, i)) {
        edits_.remove(i);
        lambda(open);
        return i;
    }
    const Declaration d(source_, i);
    declared_ = std::max(d.stop, i + 1);
    const bool unplaced = d.has("typedef") || d.has("using");
    const bool variable = !d.function && !unplaced;
    const bool shared = d.has("__shared__");
    if (d.has("__global__") && !d.function) refuse(i, "__global__ stands before something that is not a function; write __global__ void name(parameters)");
    if (shared && d.has("extern")) {
        dynamic_shared(d);
        return i;
    }
    for (int w : d.words)
        if (source_.is(w, "__global__")) edits_.replace(w, w + 1, "__attribute__((noinline, noipa))");
        else if (is_space_word(source_.spelling(w))) edits_.remove(w);
    if (shared) shared_variable(d);
    else if (variable) device_variable(d);
    else if (d.function && !unplaced) device_function(d);
    return i;
}

// `inline`, once: compilers refuse a second one, and one at a lambda.
void Rewriter::forced_inline(int i)
{
    bool dropped = lambda_around(source_, i) != 0;
    if (!dropped) {
        const Declaration d(source_, i);
        const auto first = std::find_if(d.words.begin(), d.words.end(), [&](int w) { return source_.is(w, "__forceinline__"); });
        dropped = d.has_inline() || first == d.words.end() || *first != i;
    }
    edits_.replace(i, i + 1, dropped ? "" : "inline");
}

// --- functions

void Rewriter::device_function(const Declaration& d)
{
    if (d.has("__global__")) note_kernel(d);
    for (int i = d.first; i < source_[d.stop].partner; ++i) check_device_word(i);
    if (!d.body) return;
    for (int i = source_[d.stop].partner + 1; i < d.body; ++i)
        if (source_.is_word(i)) heap_word(i);  // of what initialises the members
    // Checks cost time, and the compiler keeps no value in a register across one. So they are left out where nothing needs them: the index of
    // an array in shared or global memory is watched by its address, and a number is aligned if its address is.
    std::string unchecked = has_local_arrays(d.body) ? "" : "\"bounds\"";
    if (!has_aligned_types(d)) unchecked += unchecked.empty() ? "\"alignment\"" : ", \"alignment\"";
    if (!unchecked.empty()) edits_.before(d.words.front(), "__attribute__((no_sanitize(" + unchecked + "))) ");
    // Its accesses belong to this function, and a copy's to the function that copies.
    if (!d.has("__global__")) edits_.before(d.words.front(), "__attribute__((noinline)) ");
    if (d.has("__global__")) launch_bounds(d);
    body(d.body, !d.has("__global__"), !d.has("constexpr") && !d.has("consteval"));
}

// Whether an array of the thread's own may be indexed in this body: one that is declared there, or is a member.
bool Rewriter::has_local_arrays(int open) const
{
    for (int i = open + 1; i < source_[open].partner; ++i) {
        if (!source_.is(i, "[") || !source_.is_word(i - 1)) continue;
        if (source_.is(i - 2, ".")) return true;
        // A declaration has a type in front of the name; a `__shared__` one has that in front of the type.
        const bool typed = (source_.is_word(i - 2) && !source_.is(i - 2, "return") && !source_.is(i - 2, "case") && !source_.is(i - 2, "else") && !source_.is(i - 2, "do")) ||
                           source_.is(i - 2, ">") || source_.is(i - 2, ",");
        if (!typed) continue;
        int first = i - 1;
        while (first > open && !source_.is(first, ";") && !source_.is(first, "{") && !source_.is(first, "}") && !source_.is(first, "(")) --first;
        if (source_.is(first, "(")) continue;
        if (!find_word(source_, first, i, "__shared__")) return true;
    }
    return false;
}

// True if a function may access objects that need more alignment than their members: vectors of CUDA's, or the program's own types. A
// template may have any type, and a member function has that of its class.
bool Rewriter::has_aligned_types(const Declaration& d)
{
    if (d.templated || !at_namespace_scope(source_, d.first)) return true;
    if (types_.empty()) note_types();
    for (int i = d.first; i < source_[d.body].partner; ++i)
        if (source_.is_word(i) && (types_.count(source_.spelling(i)) || is_vector_type(source_.spelling(i)))) return true;
    return false;
}

void Rewriter::note_types()
{
    types_ = {"auto", "decltype"};
    for (int i = 1; i < source_.count(); ++i) {
        if (source_[i].system) continue;
        if (source_.is(i, "struct") || source_.is(i, "class") || source_.is(i, "union")) {
            // Attributes may stand in front of the name.
            int name = i + 1;
            while (is_attribute(source_, name) || source_.is(name, "alignas") || source_.is(name, "__align__") || begins_with(source_.spelling(name), "__attribute"))
                name = source_[source_.opens(name) ? name : name + 1].partner + 1;
            if (source_.is_word(name)) types_.insert(source_.spelling(name));
        } else if (source_.is(i, "using") && source_.is(i + 2, "=")) {
            types_.insert(source_.spelling(i + 1));
        } else if (source_.is(i, "typedef")) {
            int end = i;
            while (end < source_.count() && !source_.is(end, ";")) end = source_.opens(end) ? source_[end].partner + 1 : end + 1;
            for (int w = i + 1; w < end; ++w)
                if (source_.is_word(w) && (source_.is(w + 1, ";") || source_.is(w + 1, ",") || source_.is(w + 1, "["))) types_.insert(source_.spelling(w));
        }
    }
}

// __launch_bounds__(threads, ...): the simulator asks a kernel for it before a launch.
void Rewriter::launch_bounds(const Declaration& d)
{
    const int word = find_word(source_, d.first, d.stop, "__launch_bounds__");
    if (!word || !source_.is(word + 1, "(")) return;
    const std::vector<Range> arguments = split(source_, word + 2, source_[word + 1].partner);
    if (arguments.empty()) refuse(word, "__launch_bounds__ says how many threads a block has at most; write __launch_bounds__(256)");
    edits_.after(d.body, " static const unsigned sim_launch_bound[] __attribute__((used)) = {unsigned(" + source_.join(arguments[0].first, arguments[0].second) + ")};");
}

// One that is declared __device__.
void Rewriter::lambda(int open)
{
    const int brace = lambda_body(source_, open);
    if (brace < device_end_) return;  // one of a device function is found there
    for (int i = open; i < brace; ++i) check_device_word(i);
    body(brace, true, !find_word(source_, open, brace, "constexpr"));
}

// The body of a device function. `marked`: constant expressions cannot hold markers.
void Rewriter::body(int open, bool call, bool marked)
{
    if (marked && call) edits_.after(open, "::sim::Call sim_call; ");
    if (open < device_end_) return;  // of a local class: its loops are done
    device_end_ = source_[open].partner;
    if (!call) kernel_end_ = device_end_;

    std::vector<int> gotos, ends_of_do;
    for (int i = open; i < device_end_; ++i)
        if (source_.is(i, "goto")) gotos.push_back(i);

    int unmarked_end = marked ? 0 : device_end_;
    for (int i = open + 1; i < device_end_; ++i) {
        if (source_.is_word(i)) check_device_word(i);
        if (source_.is_word(i)) heap_word(i);
        if (source_.is_word(i) && !dynamic_names_.empty()) dynamic_shared_use(i);
        if (i < unmarked_end) continue;
        if (source_.is(i, "[")) {
            const int brace = lambda_body(source_, i);
            if (!brace) continue;
            if (find_word(source_, i, brace, "constexpr")) unmarked_end = source_[brace].partner;
            else if (!source_[brace].system) edits_.after(brace, "::sim::Call sim_call; ");
        } else if (source_.is(i, "do")) {
            ends_of_do.push_back(statement_end(source_, i + 1));
            loop(i, i, gotos);
        } else if (source_.is(i, "for") || source_.is(i, "while")) {
            const bool ends = std::find(ends_of_do.begin(), ends_of_do.end(), i) != ends_of_do.end();
            if (source_.is(i + 1, "(") && !ends) loop(i, source_[i + 1].partner, gotos);
        }
    }
}

// Marks the loop of this keyword. Its body begins behind `head_end`.
void Rewriter::loop(int keyword, int head_end, const std::vector<int>& gotos)
{
    const int end = statement_end(source_, keyword);
    if (source_[keyword].system || entered_elsewhere(keyword, end, gotos)) return;
    const std::string first = "::sim::first_turn<" + std::to_string(++loops_) + ">(sim_outer)";
    std::string marker = "if (const auto sim_outer = ::sim::outer_turn(); false) {} else if (::sim::Loop sim_loop(sim_outer); false) {} else if (unsigned long sim_turns = " + first + "; false) {} else ";
    // Where the loop is all that an `if` does, braces keep compilers from warning of the `else`.
    const std::string turn = " ::sim::is_long(sim_turns = ::sim::next_turn(sim_turns)) && (::sim::long_loop(), sim_turns = " + first + ", false)";
    const int before = keyword - 1;
    const bool branch = source_.is(before, ")") && follows_if(source_, source_[before].partner);
    if (branch) {
        marker.insert(0, "{ ");
        edits_.after(end - 1, " }");
    }
    // Between `#pragma unroll` and its loop nothing may stand.
    const size_t gap = source_.end_of(before), begin = source_.begin_of(keyword);
    const bool pragma = std::string_view(source_.text()).substr(gap, begin - gap).find("#pragma") != std::string_view::npos;
    if (pragma) edits_.after(before, " " + marker);
    else edits_.before(keyword, marker);
    // A body that is only a semicolon would be an empty `else`, which compilers warn of.
    edits_.after(head_end, source_.is(head_end + 1, ";") ? turn : " if (" + turn + ", false) {} else ");
}

// True if control gets into the loop without passing its head: a marker would be jumped over.
bool Rewriter::entered_elsewhere(int first, int last, const std::vector<int>& gotos) const
{
    for (int i = first + 1; i < last; ++i) {
        if (source_.is(i, "switch")) i = statement_end(source_, i) - 1;
        else if (source_.is(i, "case") || (source_.is(i, "default") && source_.is(i + 1, ":"))) return true;
    }
    for (int from : gotos) {
        if (from >= first && from < last) continue;
        for (int i = first; i < last; ++i)
            if (source_.is(i, source_.spelling(from + 1)) && source_.is(i + 1, ":") && !source_.is(i - 1, "?")) return true;
    }
    return false;
}

// --- variables

void Rewriter::shared_variable(const Declaration& d)
{
    for (int i = d.stop; i <= source_.count() && !source_.is(i, ";"); i = source_.opens(i) ? source_[i].partner + 1 : i + 1) {
        const bool call = source_.is(i, "(") && i == d.stop && !source_.is(i + 1, "*") && !source_.is(i + 1, "&");
        if (source_.is(i, "=") || source_.is(i, "{") || call)
            refuse(i, "a __shared__ variable cannot have an initializer; assign to it in one thread, then call __syncthreads()");
    }
    qualify(d, "static __thread __attribute__((used, aligned(256))) ");
    gaps(d);
    if (at_namespace_scope(source_, d.first)) return;
    // nvcc lays arrays out in the order of their declarations, each aligned as its type or as it is told to be. The third
    // number is the size of an element.
    std::string told = "1";
    for (int w : d.words)
        if ((source_.is(w, "__align__") || source_.is(w, "alignas")) && source_.is(w + 1, "(")) told = source_.join(w + 2, source_[w + 1].partner);
    const std::vector<std::pair<int, int>> declared = declarators(d);
    const int end = declared.back().second;
    for (const auto& [name, behind] : declared) {
        const std::string array(source_.spelling(name));
        edits_.first_after(end, " static const unsigned sim_array_" + array + "[] __attribute__((used)) = {" + std::to_string(++arrays_) +
                              ", alignof(decltype(" + array + ")) > (" + told + ") ? alignof(decltype(" + array + ")) : (" + told + "), ::sim::element_bytes<decltype(" + array + ")>}; ::sim::declares(&reinterpret_cast<const volatile char&>(" + array + "), " + (d.first < kernel_end_ ? "true" : "false") + ");");
    }
}

// The name of each variable of a declaration, and the `,` or `;` behind it.
std::vector<std::pair<int, int>> Rewriter::declarators(const Declaration& d) const
{
    std::vector<std::pair<int, int>> all;
    int name = source_.is(d.stop, "(") ? d.stop : d.name;  // of a pointer to a function: in parentheses
    for (int i = d.stop; i <= source_.count(); i = source_.opens(i) ? source_[i].partner + 1 : i + 1) {
        if (!source_.is(i, ",") && !source_.is(i, ";")) continue;
        all.push_back({name, i});
        if (source_.is(i, ";")) break;
        name = i + 1;
        while (source_.is(name, "*") || source_.is(name, "const")) ++name;
    }
    return all;
}

// A gap behind each array, as one more variable of the same declaration, because only these lie next to each other for certain.
void Rewriter::gaps(const Declaration& d)
{
    if (d.has("extern") || d.has("auto") || source_.is(d.name - 1, "::")) return;
    for (auto [name, end] : declarators(d)) {
        while (source_.is(name, "(") || source_.is(name, "*")) ++name;  // a pointer to a function
        if (!source_.is_word(name)) continue;
        const std::string array(source_.spelling(name));
        // A pointer to something constant is no constant itself.
        const bool pointer = source_.is(name - 1, "*") || (source_.is(name - 1, "const") && d.has("*"));
        edits_.before(end, std::string(", ") + (pointer ? d.constant() ? "*const " : "*" : "") + "sim_gap_" + array + "[::sim::gap_elements<decltype(" + array + ")>]" +
                               (d.constant() ? " = {}" : ""));
    }
}

// Puts specifiers, `static` among them, in front: behind alignas, which must come first.
void Rewriter::qualify(const Declaration& d, const std::string& specifiers)
{
    for (int w : d.words)
        if (source_.is(w, "static")) edits_.remove(w);
    edits_.before(d.specifiers(), specifiers);
}

// extern __shared__ TYPE name[]...;
void Rewriter::dynamic_shared(const Declaration& d)
{
    const int bound = d.stop;
    int end = bound;
    while (source_.is(end, "[")) end = source_[end].partner + 1;
    if (!source_.is(bound, "[") || source_[bound].partner != bound + 1 || !source_.is(end, ";"))
        refuse(d.name, "an extern __shared__ variable is one array without a size; write extern __shared__ float name[];");

    // What makes up the type, left to right: the specifiers that belong to the storage are dropped.
    std::string type;
    for (int i = d.first; i < d.name; ++i) {
        const std::string_view word = source_.spelling(i);
        const bool attribute = word == "alignas" || word == "__align__" || begins_with(word, "__attribute");
        if (attribute || (word == "[" && source_.is(i + 1, "["))) i = source_[attribute ? i + 1 : i].partner;
        else if (word != "extern" && word != "static" && !is_space_word(word))
            type += (type.empty() || source_.end_of(i - 1) == source_.begin_of(i) ? "" : " ") + std::string(word);
    }
    const std::string name(source_.spelling(d.name)), rest = source_.join(bound + 2, end);
    const std::string address = "::sim::dynamic_shared())";

    if (!at_namespace_scope(source_, d.first)) {
        const std::string pointer = rest.empty() ? type + "*" : type + " (*)" + rest;
        const std::string declarator = rest.empty() ? type + "* const " + name : type + " (* const " + name + ")" + rest;
        edits_.replace(d.first, end, declarator + " = static_cast<" + pointer + ">(" + address);
        return;
    }
    // Each block has an address of its own: every use asks for it.
    const std::string known = scope_of(source_, d.first) + "::" + name;
    const bool again = std::find(dynamic_.begin(), dynamic_.end(), known) != dynamic_.end();
    dynamic_.push_back(known);
    dynamic_names_.push_back(source_.spelling(d.name));
    const std::string element = rest.empty() ? type : "sim_element", alias = rest.empty() ? "" : "using sim_element = " + type + rest + "; ";
    edits_.replace(d.first, end, again ? "static_assert(true, \"\")" :
        "static const struct { " + alias + "operator " + element + "*() const { return static_cast<" + element + "*>(" + address + "; } } "
        + name + " __attribute__((unused)) = {}");
}

// Such an array is an object that converts to a pointer. In a cast, or as an argument of a template, it does so
// only after a unary +.
void Rewriter::dynamic_shared_use(int i)
{
    if (std::find(dynamic_names_.begin(), dynamic_names_.end(), source_.spelling(i)) == dynamic_names_.end()) return;
    const int before = i - 1, after = i + 1;
    const bool cast = source_.is(before, ")") && source_.is(before - 1, "*");
    const bool begins = source_.is(before, "(") || source_.is(before, ",") || source_.is(before, "=") || source_.is(before, "return");
    const bool ends = source_.is(after, ")") || source_.is(after, ",") || source_.is(after, ";");
    if (cast || (begins && ends)) edits_.before(i, "+");
}

void Rewriter::device_variable(const Declaration& d)
{
    std::string section = d.has("__managed__") ? "sim_managed" : d.has("__constant__") ? "sim_constant" : "sim_device";
    // Of a template's variables, a specialization is one file's and the others are not. They have no section, which old compilers ignore
    // and newer ones would refuse. The simulator finds them by the name that is put beside the template.
    const bool of_template = d.header && at_namespace_scope(source_, d.first);
    if (!of_template && d.has("__device__") && is_table(d)) return table(d);
    // A section holds either constants or variables, and g++ keeps variables that several files may define apart from others.
    if (d.constant() && !d.has("__managed__")) section += "_const";
    if (d.has_inline() && !of_template && !d.has("static") && !in_unnamed_namespace(source_, d.first)) section += "_inline";
    // From the beginning of a sector on, whichever machine this is: x86-64 aligns arrays so, others do not.
    qualify(d, std::string(d.has("static") ? "static " : "") + "__attribute__((" + (of_template ? "" : "used, section(\"" + section + "\"), ") + "aligned(32))) ");
    if (!of_template && at_namespace_scope(source_, d.first)) gaps(d);
    const std::string name(source_.spelling(d.name));
    const bool specialization = of_template && source_.is(d.header + 1, ">");
    if (!of_template || specialization || !templates_.insert(scope_of(source_, d.first) + "::" + name).second) return;
    int end = d.stop;
    while (end <= source_.count() && !source_.is(end, ";")) end = source_.opens(end) ? source_[end].partner + 1 : end + 1;
    edits_.after(end, " static const char sim_template_" + section + "_" + name + "[] __attribute__((used)) = \"\";");
}

// True if a declaration is of one constant array.
bool Rewriter::is_table(const Declaration& d) const
{
    return d.constant() && !d.has("constexpr") && !d.has("extern") && !d.has_inline() && source_.is(d.stop, "[") && at_namespace_scope(source_, d.first) &&
           !source_.is(d.name - 1, "::") && declarators(d).size() == 1;
}

// const TYPE name[]...: g++ does not watch an object that is constant. So the array is a variable, and its name is that of a reference to
// something constant.
void Rewriter::table(const Declaration& d)
{
    const std::string name(source_.spelling(d.name)), array = "sim_table_" + name;
    for (auto w = d.words.rbegin(); w != d.words.rend() && !source_.is(*w, "*"); ++w)
        if (source_.is(*w, "const")) edits_.remove(*w);
    qualify(d, "static __attribute__((used, section(\"sim_device_table\"), aligned(32))) ");
    edits_.replace(d.name, d.name + 1, array);
    const int end = declarators(d).front().second;
    edits_.before(end, std::string(", ") + (d.has("*") ? "*" : "") + "sim_gap_" + name + "[::sim::gap_elements<decltype(" + array + ")>]");
    edits_.after(end, " static const decltype(" + array + ")& " + name + " __attribute__((unused)) = " + array + ";");
}

// --- launches

void Rewriter::note_kernel(const Declaration& d)
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
        for (int i = first; i < last; i = source_.opens(i) ? source_[i].partner + 1 : i + 1) known->overloaded |= source_.is(i, "=");
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

// A function of the host may have the name of a kernel, and call it.
void Rewriter::note_functions_of_the_host()
{
    for (int i = 1; i < source_.count(); ++i) {
        if (source_[i].system || !source_.is(i + 1, "(") || !source_.is_word(i)) continue;
        const auto namesakes = kernels_.find(source_.spelling(i));
        if (namesakes == kernels_.end() || kernel_names_.count(i) || !at_namespace_scope(source_, i)) continue;
        const std::string scope = scope_of(source_, i);
        for (Kernel& k : namesakes->second) k.overloaded |= k.scope == scope;
    }
}

// True if the arguments of the launch choose an overload, or determine template arguments.
bool Rewriter::needs_lambda(const Launch& launch) const
{
    const int name = launch.name.second - 1;
    const auto namesakes = kernels_.find(source_.spelling(name));
    if (namesakes == kernels_.end()) return false;
    const std::vector<Kernel>& kernels = namesakes->second;

    // Of several namespaces' kernels, those of the namespace that the launch names, if it is known.
    std::string qualifier = source_.is(name - 1, "::") ? source_.join(launch.name.first, name - 1) : "";
    if (qualifier.compare(0, 2, "::")) qualifier.insert(0, "::");
    const auto qualified = [&](const Kernel& k) {
        const std::string scope = "::" + k.scope;
        return scope.size() >= qualifier.size() && !scope.compare(scope.size() - qualifier.size(), qualifier.size(), qualifier);
    };
    const bool any = std::none_of(kernels.begin(), kernels.end(), qualified);
    const size_t given = split(source_, launch.arguments.first, launch.arguments.second).size();
    return std::any_of(kernels.begin(), kernels.end(), [&](const Kernel& k) {
        const bool deduced = k.templated && (!launch.arguments.first || k.pack || given < k.needed);
        return (any || qualifier == "::" || qualified(k)) && (k.overloaded || deduced);
    });
}

void Rewriter::launch(int open)
{
    const Launch l(source_, open);
    std::string quoted;
    for (char c : source_.join(l.kernel.first, l.kernel.second)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    edits_.before(l.kernel.first, "::sim::launch(::sim::Configuration(");
    std::string kernel = edits_.cut(l.kernel.first, l.kernel.second);
    if (needs_lambda(l)) kernel = "[](auto... sim_arguments) __attribute__((no_sanitize(\"thread\"))) { " + kernel + "(sim_arguments...); }";
    edits_.replace(open, open + 3, "");
    edits_.replace(l.close, l.close + 3, "), \"" + quoted + "\", " + kernel + ")");
}

// --- what the simulator cannot run

constexpr char no_textures[] = "textures are not supported by the simulator; read the array through a pointer";
constexpr char no_tensor_cores[] = "tensor cores (nvcuda::wmma) are not supported by the simulator; write the product as a loop";

// References to textures and `using namespace nvcuda` need no function.
void Rewriter::check_namespace_word(int i) const
{
    const bool texture = source_.is(i, "texture") && source_.is(i + 1, "<") && !source_.is(i - 1, "struct") && !source_.is(i - 1, "class") &&
                         !source_.is(i - 1, "::");
    const bool tensor = source_.is(i, "nvcuda") && !source_.is(i - 1, "namespace");
    const bool imported = source_.is(i, "nvcuda") && source_.is(i - 2, "using");
    if ((texture || tensor || imported) && at_namespace_scope(source_, i)) refuse(i, texture ? no_textures : no_tensor_cores);
}

// Functions and types of the runtime and the driver that the headers do not declare: better one message than one for each.
void Rewriter::check_runtime_word(int i) const
{
    if (source_.is(i - 1, ".") || source_.is(i - 1, "->")) return;
    const std::string_view word = source_.spelling(i);
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto begins = [&](std::initializer_list<std::string_view> with) {
        return std::any_of(with.begin(), with.end(), [&](std::string_view w) { return begins_with(word, w) && word.size() > w.size() && is_upper(word[w.size()]); });
    };
    const std::string named = " (" + std::string(word) + ") ";
    if (begins({"cudaGraph"}) || word == "cudaStreamBeginCapture") refuse(i, "CUDA graphs" + named + "are not supported by the simulator; launch the kernels one by one");
    if (begins({"cudaIpc"})) refuse(i, "memory that processes share" + named + "is not supported by the simulator; use one process");
    if (begins({"cudaGraphics", "cudaGL"})) refuse(i, "graphics" + named + "are not supported by the simulator; copy the result with cudaMemcpy");
    if (source_.is(i + 1, "(") && begins({"cuModule", "cuLaunch", "cuCtx", "cuMem", "cuLink", "cuLibrary", "cuFunc"}))
        refuse(i, "functions of the driver" + named + "are not supported by the simulator; use those of the runtime, and kernel<<<grid, block>>>(arguments)");
}

void Rewriter::check_device_word(int i) const
{
    if (source_[i].system || source_.is(i - 1, ".") || source_.is(i - 1, "->")) return;
    const std::string_view word = source_.spelling(i);
    const bool call = source_.is(i + 1, "(");
    const auto begins = [&](std::initializer_list<std::string_view> with) {
        return std::any_of(with.begin(), with.end(), [&](std::string_view w) { return begins_with(word, w); });
    };
    switch (source_.first_of(i)) {
        case 'a':
        case '_':
            if (word == "asm" || word == "__asm__" || word == "__asm")
                refuse(i, "inline PTX (asm) is not supported by the simulator; write it in C++");
            break;
        case 'c':
            if (word == "cudaTextureObject_t") refuse(i, no_textures);
            if (word == "cudaSurfaceObject_t") refuse(i, "surfaces are not supported by the simulator; access the array through a pointer");
            break;
        case 'n':
        case 'w':
            if (word == "nvcuda" || (word == "wmma" && source_.is(i + 1, "::"))) refuse(i, no_tensor_cores);
            break;
        case 's':
            if ((call || source_.is(i + 1, "<")) && begins({"surf1D", "surf2D", "surf3D", "surfCubemap"}))
                refuse(i, "surfaces are not supported by the simulator; access the array through a pointer");
            break;
        case 't':
            if ((call || source_.is(i + 1, "<")) && begins({"tex1D", "tex2D", "tex3D", "texCubemap"})) refuse(i, no_textures);
            if (word == "texture" && source_.is(i + 1, "<")) refuse(i, no_textures);
            if (call && word == "this_cluster") refuse(i, "clusters of blocks (this_cluster) are not supported by the simulator; use this_thread_block()");
            break;
    }
}

// malloc, free, new and delete in device code: of the device's heap.
void Rewriter::heap_word(int i)
{
    const std::string_view word = source_.spelling(i);
    const int before = i - 1;
    if (source_[i].system || source_.is(before, ".") || source_.is(before, "->") || source_.is(before, "operator")) return;
    if (word == "malloc" || word == "free") {
        const bool qualified = source_.is(before, "::"), standard = qualified && source_.is(i - 2, "std");
        const bool declared = source_.is_word(before) && !source_.is(before, "return") && !source_.is(before, "else") && !source_.is(before, "do");
        if (!source_.is(i + 1, "(") || declared || (qualified && !standard && source_.is_word(i - 2))) return;
        edits_.replace(standard ? i - 2 : qualified ? before : i, i + 1, "::sim::heap_" + std::string(word));
    } else if (word == "new" && !source_.is(i + 1, "(")) {
        edits_.after(i, " (::sim::on_heap)");
    } else if (word == "delete" && !source_.is(before, "=") && !source_.is(before, "::")) {
        const bool array = source_.is(i + 1, "[") && source_[i + 1].partner == i + 2;
        edits_.replace(i, array ? i + 3 : i + 1, array ? "::sim::heap_delete_array->*" : "::sim::heap_delete->*");
    } else {
        return;
    }
    heap_ = true;
}

bool read_all(std::FILE* file, std::string& text)
{
    char buffer[1 << 16];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
    return !std::ferror(file);
}

constexpr char usage[] =
    "usage: rewrite [--namespace NAME] [--plain-host] [FILE]\n"
    "       rewrite --host | --c [FILE]\n"
    "       rewrite --missing ERRORS\n"
    "\n"
    "Rewrites preprocessed CUDA C++ (g++ -E or clang++ -E, from FILE or standard input) as C++ for\n"
    "the simulator, to standard output. All lines keep their numbers. Exit status: 0; or 2 with one\n"
    "line on standard error, FILE:LINE: what is wrong, for what the simulator cannot run.\n"
    "\n"
    "--namespace NAME   put what the file itself declares into an inline namespace of that name, so\n"
    "                   that it can be linked with what nvcc makes of the same file\n"
    "--plain-host       keep the compiler from watching the accesses of functions that only the host calls\n"
    "--host             the file is plain C++: remove the words of CUDA and add nothing. Exit status 3,\n"
    "                   with no message, if it has kernels or launches and is CUDA C++ after all\n"
    "--c                the file is C\n"
    "--headers FOLDER   write an empty header into FOLDER where the file includes one of a library that the\n"
    "                   simulator does not have, and exit with status 4: preprocess again, with -isystem FOLDER.\n"
    "                   Then the program is refused only where it names a function of that library\n"
    "\n"
    "--missing          ERRORS is what the preprocessor wrote to standard error: print it, and one line\n"
    "                   instead where a header of CUDA was not found that the simulator does not have.\n"
    "                   Exit status: 2, or 4 with --headers\n"
    "\n"
    "  g++ -std=c++17 -E -x c++ program.cu | rewrite > program.ii\n";

int fail(const std::string& message)
{
    std::fprintf(stderr, "%s\n", message.c_str());
    return 2;
}

struct Options {
    std::string wrapped;  // the namespace
    std::string headers;  // the folder
    std::string file = "<stdin>";
    Language language = Language::cuda;
    bool plain_host = false, missing = false;
};

// Throws what is wrong with the command line.
Options parse(int argc, char** argv)
{
    Options o;
    bool named = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--namespace" && i + 1 < argc) o.wrapped = argv[++i];
        else if (word == "--headers" && i + 1 < argc) o.headers = argv[++i];
        else if (word == "--host") o.language = Language::cpp;
        else if (word == "--c") o.language = Language::c;
        else if (word == "--plain-host") o.plain_host = true;
        else if (word == "--missing") o.missing = true;
        else if (named || (word[0] == '-' && word != "-")) throw std::string(word) + ": expected one file; see --help";
        else o.file = word, named = true;
    }
    if (o.missing && !named) throw std::string("--missing: expected one file; see --help");
    return o;
}

}  // namespace
}  // namespace rewrite

int main(int argc, char** argv)
{
    using namespace rewrite;
    if (argc == 2 && !std::strcmp(argv[1], "--help")) return std::fputs(usage, stdout) < 0;
    Options o;
    try {
        o = parse(argc, argv);
    } catch (const std::string& wrong) {
        return fail("rewrite: " + wrong);
    }

    const bool standard = o.file == "-" || o.file == "<stdin>";
    std::FILE* file = standard ? stdin : std::fopen(o.file.c_str(), "rb");
    std::string text;
    if (!file || !read_all(file, text)) return fail(o.file + ": cannot be read: " + std::strerror(errno));
    if (o.missing) {
        const MissingHeader missing = find_missing(text, o.language == Language::c);
        if (missing.header.empty()) return std::fputs(text.c_str(), stderr), 2;
        return !o.headers.empty() && add_header(o.headers, missing.header) ? 4 : fail(missing.why);
    }
    if (text.size() >= UINT32_MAX) return fail(o.file + ": more than 4 GB; expected one preprocessed file");

    std::string out;
    const auto refuse = [&](const Refusal& refusal) {
        const Place place = place_in(text, refusal.offset, o.file);
        return fail(place.file + ":" + std::to_string(place.line) + ": " + refusal.what);
    };
    try {
        check_headers(text, o.language == Language::c, o.headers);
        const Source source(text);
        for (size_t at : source.joints()) text[at] = ' ';
        out = Rewriter(source, o.language).run(o.wrapped, o.plain_host, o.headers);
    } catch (const HasKernels&) {
        return 3;
    } catch (const LibraryHeader& found) {
        return !o.headers.empty() && add_header(o.headers, found.header) ? 4 : refuse(found.refusal);
    } catch (const Refusal& refusal) {
        return refuse(refusal);
    }
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout))
        return fail(std::string("rewrite: cannot write: ") + std::strerror(errno));
    return 0;
}
