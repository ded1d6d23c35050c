// Refuses what CUDA's headers declare and the simulator's do not.
//
// In:    the tokens of a preprocessed program with the simulator's headers.
// Idea:  a name such as cudaFoo or cuFoo that the program calls, or uses as a type, must be declared somewhere. The
// headers declare it if it
//        is one of their words. The program declares it if it stands anywhere where it can be declared. Otherwise the
//        compiler would fail.
// Cost:  two passes over the tokens.

#include "undeclared.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "syntax.h"

namespace rewrite {
namespace {

// cuda and cu, followed by a capital letter.
bool is_runtime(std::string_view word)
{
    return word.size() > 4 && word.substr(0, 4) == "cuda" && std::isupper(static_cast<unsigned char>(word[4]));
}
// cuFoo, CUfoo and CU_foo.
bool is_driver(std::string_view word)
{
    if (word.size() < 3) return false;
    const bool type = word.substr(0, 2) == "CU" &&
                      std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c); });
    return type || (word.substr(0, 2) == "cu" && std::isupper(static_cast<unsigned char>(word[2])));
}

bool is_call(const Source& s, int i)
{
    return s.is(i + 1, "(") && !is_operand(s, i - 1) && !s.is_any(i - 1, {"*", "&", "&&", ">", "~", "::"});
}

// `cudaFoo name`, `cudaFoo* name` and `const cudaFoo& name`, but no definition of it.
bool is_type(const Source& s, int i)
{
    int next = i + 1;
    while (s.is_any(next, {"*", "&", "const"})) ++next;
    return s.is_word(next) &&
           !s.is_any(i - 1, {"struct", "class", "enum", "union", "typename", "using", "namespace", "typedef", ".", "->",
                             "::"}) &&
           (!s.is_word(i - 1) || s.is_any(i - 1, {"const", "static", "constexpr", "extern", "inline", "volatile"})) &&
           (next == i + 1 || !s[next].system) &&
           (next == i + 1 || s.is_any(i - 1, {";", "{", "}", "(", ",", "const", "static"}));
}

// The text that the headers have for a function that they declare to refuse it: "cudaFoo: the simulator has no foos".
std::string refused_by_header(const Source& s, int i)
{
    if (!s[i].system || !s.is(i + 1, "(") || !s.is(i + 2, "Arguments")) return "";
    std::string text;
    const int body = s[i + 1].partner + 1;
    for (int j = body + 1; s.is(body, "{") && j < s[body].partner; ++j)
        if (s[j].kind == Token::text) text += s.spelling(j).substr(1, s[j].length - 2);
    return text;
}

}  // namespace

void check_declared(const Source& s)
{
    std::unordered_map<std::string_view, std::string> declared;  // by the headers: what they refuse, and why
    bool has_headers = false;
    for (int i = 1; i <= s.count(); ++i) {
        if (!s[i].system || !s.is_word(i) || s.first_of(i) != 'c') continue;
        const std::string_view word = s.spelling(i);
        has_headers |= word == "cudaGetLastError";
        if (is_runtime(word) || is_driver(word)) {
            const std::string refused = refused_by_header(s, i);
            if (!refused.empty()) declared[word] = refused;
            else declared.emplace(word, "");
        }
    }
    if (!has_headers) return;
    for (int i = 1; i <= s.count(); ++i)
        if (s[i].system && s.is_word(i) && s.first_of(i) == 'C' && is_driver(s.spelling(i)))
            declared.emplace(s.spelling(i), "");

    std::set<std::string_view> own;
    std::vector<int> used;
    for (int i = 1; i <= s.count(); ++i) {
        if (s[i].system || !s.is_word(i) || s.is_any(i - 1, {".", "->"}) ||
            (s.first_of(i) != 'c' && s.first_of(i) != 'C'))
            continue;
        const std::string_view word = s.spelling(i);
        if (!is_runtime(word) && !is_driver(word)) continue;
        const auto known = declared.find(word);
        if (known != declared.end()) {
            if (!known->second.empty() && is_call(s, i)) used.push_back(i);
        } else if (is_call(s, i) || is_type(s, i)) {
            used.push_back(i);
        } else {
            own.insert(word);
        }
    }
    for (int i : used) {
        const std::string word(s.spelling(i));
        const auto known = declared.find(s.spelling(i));
        if (known != declared.end()) throw Refusal{s.begin_of(i), known->second};
        if (own.count(s.spelling(i))) continue;
        const bool type = !is_call(s, i);
        throw Refusal{s.begin_of(i),
                      word + ": the simulator has no such " + (type ? "type" : "function") +
                          (is_runtime(s.spelling(i)) ? " of the CUDA runtime"
                                                     : " of the CUDA driver; use the functions of the runtime")};
    }
}

}  // namespace rewrite
