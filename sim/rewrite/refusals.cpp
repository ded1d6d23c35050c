// Refusals of code that the simulator cannot run. Each gives the line, and what to write instead.

#include "rewriter.h"

#include <algorithm>
#include <initializer_list>

namespace rewrite {
namespace {

constexpr char no_textures[] = "textures are not supported by the simulator; read the array through a pointer";
constexpr char no_tensor_cores[] =
    "tensor cores (nvcuda::wmma) are not supported by the simulator; write the product as a loop";

}  // namespace

// References to textures and `using namespace nvcuda` need no function.
void Rewriter::check_namespace_word(int i) const
{
    const bool texture = source_.is(i, "texture") && source_.is(i + 1, "<") && !source_.is(i - 1, "struct") &&
                         !source_.is(i - 1, "class") && !source_.is(i - 1, "::");
    const bool tensor = source_.is(i, "nvcuda") && !source_.is(i - 1, "namespace");
    const bool imported = source_.is(i, "nvcuda") && source_.is(i - 2, "using");
    if ((texture || tensor || imported) && at_namespace_scope(source_, i))
        refuse(i, texture ? no_textures : no_tensor_cores);
}

// Functions and types of the runtime and the driver that the headers do not declare: better one message than one for
// each.
void Rewriter::check_runtime_word(int i) const
{
    if (source_.is(i - 1, ".") || source_.is(i - 1, "->")) return;
    const std::string_view word = source_.spelling(i);
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto begins = [&](std::initializer_list<std::string_view> with) {
        return std::any_of(with.begin(), with.end(), [&](std::string_view w) {
            return begins_with(word, w) && word.size() > w.size() && is_upper(word[w.size()]);
        });
    };
    const std::string named = " (" + std::string(word) + ") ";
    if (begins({"cudaGraph"}) || word == "cudaStreamBeginCapture")
        refuse(i, "CUDA graphs" + named + "are not supported by the simulator; launch the kernels one by one");
    if (begins({"cudaIpc"}))
        refuse(i, "memory that processes share" + named + "is not supported by the simulator; use one process");
    if (begins({"cudaGraphics", "cudaGL"}))
        refuse(i, "graphics" + named + "are not supported by the simulator; copy the result with cudaMemcpy");
    if (source_.is(i + 1, "(") && begins({"cuModule", "cuLaunch", "cuCtx", "cuMem", "cuLink", "cuLibrary", "cuFunc"}))
        refuse(
            i,
            "functions of the driver" + named +
                "are not supported by the simulator; use those of the runtime, and kernel<<<grid, block>>>(arguments)");
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
            if (word == "cudaSurfaceObject_t")
                refuse(i, "surfaces are not supported by the simulator; access the array through a pointer");
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
            if ((call || source_.is(i + 1, "<")) && begins({"tex1D", "tex2D", "tex3D", "texCubemap"}))
                refuse(i, no_textures);
            if (word == "texture" && source_.is(i + 1, "<")) refuse(i, no_textures);
            if (call && word == "this_cluster")
                refuse(i,
                       "clusters of blocks (this_cluster) are not supported by the simulator; use this_thread_block()");
            break;
    }
}

}  // namespace rewrite
