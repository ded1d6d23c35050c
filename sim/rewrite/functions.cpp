// Device functions. In: the declaration of a kernel, of another device function or of a device lambda. Out: edits that
// switch off checks the function does not need, and mark its calls and loops.
//
// The tokens of a body are passed once, for words of the heap, lambdas, loops, arrays and code that the simulator
// refuses. Bodies are found from outside to inside, so a lambda or a local class inside a body is not passed again.

#include "functions.h"

#include <algorithm>
#include <string>

#include "refusals.h"

namespace rewrite {
namespace {

// float4, ulonglong2, half2, cuDoubleComplex and so on.
bool is_vector_type(std::string_view word)
{
    if (begins_with(word, "cu") && word.find("Complex") != word.npos) return true;
    for (std::string_view alignment : {"_16a", "_32a"})  // double4_16a
        if (word.size() > 4 && word.substr(word.size() - 4) == alignment) word.remove_suffix(4);
    if (word.size() < 2 || word.back() < '2' || word.back() > '4') return false;
    word.remove_suffix(1);
    if (word.front() == 'u') word.remove_prefix(1);
    for (const char* number : {"char", "short", "int", "long", "longlong", "float", "double", "half", "__half",
                               "__nv_bfloat16", "nv_bfloat16"})
        if (word == number) return true;
    return false;
}

}  // namespace

void DeviceFunctions::function(const Declaration& d)
{
    if (d.has("__global__")) launches_.note_kernel(d);
    for (int i = d.first; i < source_[d.stop].partner; ++i) check_device_word(source_, i);
    if (!d.body) return;
    if (types_.empty()) note_types();
    for (int i = source_[d.stop].partner + 1; i < d.body; ++i)
        if (source_.is_word(i)) heap_.word(i);  // in the initializers of the members
    // Checks cost time, and the compiler keeps no value in a register across one. So they are left out where nothing
    // needs them: the index of an array in shared or global memory is watched by its address, and a number is aligned
    // if its address is.
    std::string unchecked = has_local_arrays(d.body) ? "" : "\"bounds\"";
    if (!has_aligned_types(d)) unchecked += unchecked.empty() ? "\"alignment\"" : ", \"alignment\"";
    if (!unchecked.empty()) edits_.before(d.words.front(), "__attribute__((no_sanitize(" + unchecked + "))) ");
    // The function is not inlined, so that accesses belong to it, and the accesses of a copy to the function that
    // copies.
    if (!d.has("__global__")) edits_.before(d.words.front(), "__attribute__((noinline)) ");
    if (d.has("__global__")) launch_bounds(d);
    const bool marked = !d.has("constexpr") && !d.has("consteval");
    const bool inside = d.body < device_end_;  // of another function, with which it is marked
    body(d.body, !d.has("__global__"), marked);
    if (marked && !inside) indices_.function(source_.spelling(d.name), {d.stop, d.body, d.has("__global__")});
}

bool DeviceFunctions::has_local_arrays(int open) const
{
    for (int i = open + 1; i < source_[open].partner; ++i) {
        if (!source_.is(i, "[") || !source_.is_word(i - 1)) continue;
        if (source_.is(i - 2, ".")) return true;
        int first = i - 1;
        while (!source_.is_any(first, {";", "{", "}"})) --first;
        if (declares(source_, i - 1) && !find_word(source_, first, i, "__shared__")) return true;
    }
    return false;
}

bool DeviceFunctions::has_aligned_types(const Declaration& d)
{
    if (d.templated || !at_namespace_scope(source_, d.first)) return true;
    const auto cast = [&](int i) {  // (double*), reinterpret_cast<double&>
        return source_.is_any(i, {"*", "&"}) && source_.is_any(i + 1, {")", ">"});
    };
    for (int i = d.first; i < source_[d.body].partner; ++i) {
        if (cast(i)) return true;
        if (!source_.is_word(i)) continue;
        const std::string_view word = source_.spelling(i);
        if (types_.count(word) || is_vector_type(word)) return true;
    }
    return false;
}

// type      = ("struct" | "class" | "union") attribute* name
//           | "using" name "="
//           | "typedef" token* name (";" | "," | "[")
// attribute = "[[" ... "]]" | ("alignas" | "__align__" | "__attribute__" | ...) parens
void DeviceFunctions::note_types()
{
    types_ = {"auto", "decltype"};
    for (int i = 1; i < source_.count(); ++i) {
        if (source_[i].system) continue;
        if (source_.is_any(i, {"struct", "class", "union"})) {
            // Attributes may stand in front of the name.
            int name = i + 1;
            while (is_attribute(source_, name) || source_.is_any(name, {"alignas", "__align__"}) ||
                   begins_with(source_.spelling(name), "__attribute"))
                name = source_[source_.opens(name) ? name : name + 1].partner + 1;
            if (!source_.is_word(name)) continue;
            types_.insert(source_.spelling(name));
            if (!source_.is_any(i - 1, {"<", ","})) indices_.class_name(source_.spelling(name));  // template <class T>
        } else if ((source_.is(i, "using") && source_.is(i + 2, "=")) || source_.is(i, "typedef")) {
            const int end = semicolon(source_, i);
            bool array = false;  // or a class
            for (int w = i + 2; w < end; ++w) array |= source_.is(w, "[") || indices_.is_class(source_.spelling(w));
            for (int w = i + 1; w < (source_.is(i, "using") ? i + 2 : end); ++w) {
                if (!source_.is_word(w) || !source_.is_any(w + 1, {";", ",", "[", "="})) continue;
                types_.insert(source_.spelling(w));
                if (array) indices_.class_name(source_.spelling(w));
            }
        }
    }
}

// `float a[n];`: g++ allows a length that is known when the thread comes by. A word in front of the name is the type.
void DeviceFunctions::fixed_length(int open)
{
    const int name = open - 1;
    if (!is_operand(source_, name - 1) || !source_.is_word(name) || source_.is(name, "auto") ||
        source_.is(source_[open].parent, "("))
        return;
    edits_.first_after(semicolon(source_, open),
                       " static_assert(__builtin_constant_p(sizeof(" + std::string(source_.spelling(name)) +
                           ")), \"nvcc refuses a local array whose length is no constant\");");
}

// bounds = "__launch_bounds__" "(" threads ("," token*)* ")"
void DeviceFunctions::launch_bounds(const Declaration& d)
{
    const int word = find_word(source_, d.first, d.stop, "__launch_bounds__");
    if (!word || !source_.is(word + 1, "(")) return;
    const std::vector<Tokens> arguments = split(source_, word + 2, source_[word + 1].partner);
    if (arguments.empty())
        refuse(source_, word,
               "__launch_bounds__ says how many threads a block has at most; write __launch_bounds__(256)");
    edits_.after(d.body, filled(" struct sim_bound { static ::sim::Declared record() { return {::sim::Declared::bound, "
                                "true, \"\", []() -> void* { return nullptr; }, unsigned($threads)}; } }; "
                                "static_cast<void>(&::sim::listed<sim_bound>);",
                                {{"threads", source_.join(arguments[0].first, arguments[0].second)}}));
}

void DeviceFunctions::lambda(int open)
{
    const int brace = lambda_body(source_, open);
    if (brace < device_end_) return;  // one inside a device function is found with it
    for (int i = open; i < brace; ++i) check_device_word(source_, i);
    const bool marked = !find_word(source_, open, brace, "constexpr");
    body(brace, true, marked);
    int parameters = source_[open].partner + 1;
    while (source_.is_word(parameters)) ++parameters;
    if (marked && source_.is(parameters, "(")) indices_.function("", {parameters, brace, false});
}

bool DeviceFunctions::has_barrier(int first, int last) const
{
    for (int i = first; i < last; ++i)
        if (!source_[i].system && (source_.is(i, "sync") || begins_with(source_.spelling(i), "__syncthreads")))
            return true;
    return false;
}

void DeviceFunctions::body(int open, bool call, bool marked)
{
    if (marked && call) edits_.after(open, "::sim::Call sim_call; ");
    if (open < device_end_) return;  // of a local class: its loops are done
    device_end_ = source_[open].partner;
    if (!call) kernel_end_ = device_end_;
    if (any_barrier_ < 0) any_barrier_ = has_barrier(0, source_.count());
    if (!call && marked && any_barrier_) {
        edits_.before(device_end_, "::sim::ends(); ");
        if (source_.is(device_end_ - 1, ";") && source_.is(device_end_ - 2, "return"))
            edits_.before(device_end_ - 2, "::sim::ends(); ");
    }
    const bool barrier = call && marked && has_barrier(open, device_end_);  // it may be most of a kernel

    std::vector<int> gotos, ends_of_do;
    for (int i = open; i < device_end_; ++i)
        if (source_.is(i, "goto")) gotos.push_back(i);

    int unmarked_end = marked ? 0 : device_end_;
    for (int i = open + 1; i < device_end_; ++i) {
        if (source_.is_word(i)) check_device_word(source_, i);
        if (source_.is_word(i)) heap_.word(i);
        if (source_.is_word(i)) variables_.dynamic_shared_use(i);
        if (source_.is(i, "static") && !source_[i].system) variables_.local_static(Declaration(source_, i));
        if (i < unmarked_end) continue;
        if (barrier && source_.is(i, "return") && !source_.is(i + 1, "{")) {
            const int end = semicolon(source_, i);
            if (end + 1 < device_end_)
                edits_.after(i, end == i + 1 ? " ::sim::returns_early()" : " ::sim::returns_early(),");
        }
        if (source_.is(i, "[")) {
            const int brace = lambda_body(source_, i);
            if (!brace) {
                fixed_length(i);
                continue;
            }
            if (find_word(source_, i, brace, "constexpr")) unmarked_end = source_[brace].partner;
            else if (!source_[brace].system) edits_.after(brace, "::sim::Call sim_call; ");
        } else if (source_.is(i, "do")) {
            ends_of_do.push_back(statement_end(source_, i + 1));
            loops_.mark(i, i, gotos);
        } else if (source_.is_any(i, {"for", "while"})) {
            const bool ends = std::find(ends_of_do.begin(), ends_of_do.end(), i) != ends_of_do.end();
            if (source_.is(i + 1, "(") && !ends) loops_.mark(i, source_[i + 1].partner, gotos);
        }
    }
}

}  // namespace rewrite
