// Refusals of code that the simulator cannot run. Each gives the line, and what to write instead.

#include "refusals.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "syntax.h"

namespace rewrite {
namespace {

constexpr char no_textures[] = "textures are not supported by the simulator; read the array through a pointer";
constexpr char no_exceptions[] = "nvcc refuses exceptions (throw, try) in device code; return an error code, or trap";
constexpr char no_tensor_cores[] =
    "tensor cores (nvcuda::wmma) are not supported by the simulator; write the product as a loop";

}  // namespace

// References to textures and `using namespace nvcuda` need no function.
void check_namespace_word(const Source& source, int i)
{
    const bool texture =
        source.is(i, "texture") && source.is(i + 1, "<") && !source.is_any(i - 1, {"struct", "class", "::"});
    const bool tensor = source.is(i, "nvcuda") && !source.is(i - 1, "namespace");
    const bool imported = source.is(i, "nvcuda") && source.is(i - 2, "using");
    if ((texture || tensor || imported) && at_namespace_scope(source, i))
        refuse(source, i, texture ? no_textures : no_tensor_cores);
}

// Functions and types of the runtime and the driver that the headers do not declare: better one message than one for
// each.
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

}  // namespace rewrite
