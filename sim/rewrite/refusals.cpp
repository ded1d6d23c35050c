// Refusals of code that the simulator cannot run. Each gives the line, and what to write instead.
//
// Some words are refused wherever they stand, others in device code. A name such as cudaFoo or cuFoo that the program
// calls, or uses as a type, must be declared somewhere, because the compiler would fail otherwise. The headers declare
// it if it is one of their words, and the program if it stands anywhere where it can be declared. The cost is two
// passes over the tokens.

#include "refusals.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "syntax.h"

namespace rewrite {
namespace {

constexpr char no_textures[] = "textures are not supported by the simulator; read the array through a pointer";
constexpr char no_exceptions[] = "nvcc refuses exceptions (throw, try) in device code; return an error code, or trap";
constexpr char no_tensor_cores[] =
    "tensor cores (nvcuda::wmma) are not supported by the simulator; write the product as a loop";

// True for a name of the runtime: cuda, followed by a capital letter.
bool is_runtime(std::string_view word)
{
    return word.size() > 4 && word.substr(0, 4) == "cuda" && std::isupper(static_cast<unsigned char>(word[4]));
}
// True for a name of the driver: cuFoo, CUfoo and CU_foo.
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

// Refuses references to textures, and `using namespace nvcuda`: both need no call of a function.
void check_namespace_word(const Source& source, int i)
{
    const bool texture =
        source.is(i, "texture") && source.is(i + 1, "<") && !source.is_any(i - 1, {"struct", "class", "::"});
    const bool tensor = source.is(i, "nvcuda") && !source.is(i - 1, "namespace");
    const bool imported = source.is(i, "nvcuda") && source.is(i - 2, "using");
    if ((texture || tensor || imported) && at_namespace_scope(source, i))
        refuse(source, i, texture ? no_textures : no_tensor_cores);
}

// Refuses functions and types of the runtime and the driver that the headers do not declare, because one message is
// better than one for each use.
void check_runtime_word(const Source& source, int i)
{
    if (source.is_any(i - 1, {".", "->"})) return;
    const std::string_view word = source.spelling(i);
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto begins = [&](std::initializer_list<std::string_view> with) {
        return std::any_of(with.begin(), with.end(), [&](std::string_view w) {
            return begins_with(word, w) && word.size() > w.size() && is_upper(word[w.size()]);
        });
    };
    const std::string named = " (" + std::string(word) + ") ";
    if (begins({"cudaGraph"}) || word == "cudaStreamBeginCapture")
        refuse(source, i, "CUDA graphs" + named + "are not supported by the simulator; launch the kernels one by one");
    if (begins({"cudaIpc"}))
        refuse(source, i, "memory that processes share" + named + "is not supported by the simulator; use one process");
    if (begins({"cudaGraphics", "cudaGL"}))
        refuse(source, i, "graphics" + named + "are not supported by the simulator; copy the result with cudaMemcpy");
    if (source.is(i + 1, "(") && begins({"cuModule", "cuLaunch", "cuCtx", "cuMem", "cuLink", "cuLibrary", "cuFunc"}))
        refuse(
            source, i,
            "functions of the driver" + named +
                "are not supported by the simulator; use those of the runtime, and kernel<<<grid, block>>>(arguments)");
}

void check_device_word(const Source& source, int i)
{
    if (source[i].system || source.is_any(i - 1, {".", "->"})) return;
    const std::string_view word = source.spelling(i);
    const bool call = source.is(i + 1, "(");
    const auto begins = [&](std::initializer_list<std::string_view> with) {
        return std::any_of(with.begin(), with.end(), [&](std::string_view w) { return begins_with(word, w); });
    };
    switch (source.first_of(i)) {
        case 'a':
        case '_':
            if (word == "asm" || word == "__asm__" || word == "__asm")
                refuse(source, i, "inline PTX (asm) is not supported by the simulator; write it in C++");
            break;
        case 'c':
            if (word == "catch") refuse(source, i, no_exceptions);
            if (word == "cudaTextureObject_t") refuse(source, i, no_textures);
            if (word == "cudaSurfaceObject_t")
                refuse(source, i, "surfaces are not supported by the simulator; access the array through a pointer");
            break;
        case 'n':
        case 'w':
            if (word == "nvcuda" || (word == "wmma" && source.is(i + 1, "::"))) refuse(source, i, no_tensor_cores);
            break;
        case 's':
            if ((call || source.is(i + 1, "<")) && begins({"surf1D", "surf2D", "surf3D", "surfCubemap"}))
                refuse(source, i, "surfaces are not supported by the simulator; access the array through a pointer");
            break;
        case 't':
            if (word == "throw" || word == "try") refuse(source, i, no_exceptions);
            if (word == "typeid")
                refuse(source, i, "nvcc refuses typeid in device code; compare types with std::is_same");
            if ((call || source.is(i + 1, "<")) && begins({"tex1D", "tex2D", "tex3D", "texCubemap"}))
                refuse(source, i, no_textures);
            if (word == "texture" && source.is(i + 1, "<")) refuse(source, i, no_textures);
            if (call && word == "this_cluster")
                refuse(source, i,
                       "clusters of blocks (this_cluster) are not supported by the simulator; use this_thread_block()");
            break;
    }
}

void check_declared(const Source& s)
{
    std::unordered_map<std::string_view, std::string> declared;  // by the headers: what they refuse, and why
    bool has_headers = false;
    for (int i = 1; i <= s.count(); ++i) {
        if (!s[i].system || !s.is_word(i) || (s.first_of(i) != 'c' && s.first_of(i) != 'C')) continue;
        const std::string_view word = s.spelling(i);
        has_headers |= word == "cudaGetLastError";
        if (is_runtime(word) || is_driver(word)) {
            const std::string refused = refused_by_header(s, i);
            if (!refused.empty()) declared[word] = refused;
            else declared.emplace(word, "");
        }
    }
    if (!has_headers) return;

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
