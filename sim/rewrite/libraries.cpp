// A table has the headers and the names of each library. In: the words of a program that belong to a library and that
// the program does not declare itself. Out: one declaration for each word. Its form and its use tell what a word is: a
// constant, a type or a function. The cost is linear in the tokens.

#include "libraries.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "syntax.h"

namespace rewrite {
namespace {

// A row of the table. Lists have words between spaces. Headers: a folder ends in a slash, and every other name is
// whole, because a program's own header may be called cublas_tools.h. Names: the beginnings of words; a namespace ends
// in `::`.
struct Library {
    const char *what, *headers, *names, *instead = "it runs kernels alone";
};
constexpr char no_kernel_library[] = "write the algorithm as a kernel";
constexpr char no_graphics[] = "copy the result with cudaMemcpy";
constexpr Library libraries[] = {
    {"Thrust is", " thrust/ ", " thrust:: ", "use cudaMalloc, cudaMemcpy and a kernel"},
    {"CUB is", " cub/ ", " cub:: ", no_kernel_library},
    {"CUTLASS is", " cutlass/ cute/ ", " cutlass:: cute:: ", "write the product as a kernel"},
    {"cuBLAS is", " cublas.h cublas_v2.h cublas_api.h cublasLt.h cublasXt.h nvblas.h ", " cublas CUBLAS_ CUBLASLT_ ",
     "write the product as a kernel"},
    {"cuRAND is", " curand.h curand_kernel.h curand_mtgp32_kernel.h curand_mtgp32_host.h ", " curand curand_ CURAND_ ",
     "write a generator of your own, such as a linear congruential one"},
    {"cuFFT is", " cufft.h cufftXt.h cufftw.h ", " cufft CUFFT_ "},
    {"cuSPARSE is", " cusparse.h cusparse_v2.h cusparseLt.h ", " cusparse CUSPARSE_ "},
    {"cuSOLVER is", " cusolverDn.h cusolverSp.h cusolverMg.h cusolverRf.h cusolver_common.h ", " cusolver CUSOLVER_ "},
    {"cuDNN is", " cudnn.h cudnn_frontend.h ", " cudnn CUDNN_ cudnn_frontend:: "},
    {"cuTENSOR is", " cutensor.h ", " cutensor CUTENSOR_ "},
    {"NPP is", " npp.h nppi.h npps.h nppcore.h nppdefs.h ", " nppi npps npp Npp Nppi NPP_ NPPI_ "},
    {"nvJPEG is", " nvjpeg.h ", " nvjpeg NVJPEG_ "},
    {"NVML is", " nvml.h ", " nvml NVML_ "},
    {"CUPTI is", " cupti.h cupti_activity.h cupti_callbacks.h cupti_profiler_target.h ", " cupti CUpti_ CUPTI_ ",
     "the simulator's report has the counts"},
    {"compilation at run time is", " nvrtc.h nvvm.h nvJitLink.h ", " nvrtc NVRTC_ nvvm NVVM_ nvJitLink NVJITLINK_ ",
     "write the kernel in the program"},
    {"tensor cores (nvcuda::wmma) are", " mma.h ", " nvcuda:: wmma:: ", "write the product as a loop"},
    {"numbers of 4, 6 and 8 bits are", " cuda_fp4.h cuda_fp6.h cuda_fp8.h ",
     " __nv_fp4x __nv_fp6x __nv_fp8x __nv_fp4_ __nv_fp6_ __nv_fp8_ __nv_cvt_ __NV_ ", "use half"},
    {"textures are", " texture_types.h texture_indirect_functions.h texture_fetch_functions.h cuda_texture_types.h ",
     "", "read the array through a pointer"},
    {"surfaces are", " surface_types.h surface_indirect_functions.h surface_functions.h cuda_surface_types.h ", "",
     "access the array through a pointer"},
    {"graphics are",
     " cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h cuda_d3d9_interop.h cuda_d3d10_interop.h "
     "cuda_d3d11_interop.h cudaGL.h cudaEGL.h "
     "GL/ GLES2/ GLES3/ GLFW/ EGL/ vulkan/ drm_fourcc.h xf86drm.h xf86drmMode.h drm/ libdrm/ ",
     " gl GL_ glu GLU_ glut GLUT_ glew GLEW_ glfw GLFW_ egl EGL_ vk Vk VK_ drm drm_ DRM_ fourcc_ cudaGL cudaEGL "
     "cudaEgl cudaVDPAU ",
     no_graphics},
    {"the deep-learning accelerator (cuDLA) is", " cudla.h ", " cudla CUDLA_ "},
    {"buffers of NvSci are", " nvscibuf.h nvscisync.h nvscierror.h ", " NvSci "},
};
constexpr int library_count = sizeof libraries / sizeof *libraries;

// Types that programs compute with.
constexpr const char* known_types[][2] = {
    {"float", " cufftReal GLfloat GLclampf "},
    {"double", " cufftDoubleReal GLdouble GLclampd "},
    {"cuComplex", " cufftComplex "},
    {"cuDoubleComplex", " cufftDoubleComplex "},
    {"int", " cufftHandle GLint GLsizei "},
    {"unsigned char", " GLboolean GLubyte "},
    {"signed char", " GLbyte "},
    {"char", " GLchar "},
    {"short", " GLshort "},
    {"unsigned short", " GLushort "},
    {"unsigned", " GLuint GLenum GLbitfield "},
    {"void", " GLvoid "},
    {"long", " GLsizeiptr GLintptr "},
    {"long long", " GLint64 "},
    {"unsigned long long", " GLuint64 "},
};
// Other types, whose names do not end in _t.
constexpr char other_types[] =
    " cufftResult cufftType curandState curandStateXORWOW curandStateMRG32k3a curandStateMtgp32 "
    "curandStatePhilox4_32_10 curandStateSobol32 curandStateSobol64 curandStatus curandRngType curandOrdering "
    "curandGenerator cublasStatus cublasHandle cublasOperation nvrtcResult nvrtcProgram nvvmResult nvvmProgram "
    "nvJitLinkHandle nvJitLinkResult GLFWwindow GLFWmonitor GLsync EGLDisplay EGLContext EGLSurface EGLint "
    "EGLBoolean EGLConfig NvSciBufObj NvSciSyncObj NvSciBufModule NvSciSyncModule NvSciError ";

// The words of a list between spaces.
std::vector<std::string_view> words_in(std::string_view list)
{
    std::vector<std::string_view> words;
    for (size_t begin = 0, end; begin < list.size(); begin = end + 1) {
        end = std::min(list.find(' ', begin), list.size());
        if (end > begin) words.push_back(list.substr(begin, end - begin));
    }
    return words;
}

// The library of a header; -1: none.
int library_of(const std::string& header)
{
    const std::string folder = header.substr(0, header.find('/') + 1), name = folder.empty() ? header : folder;
    for (int i = 0; i < library_count; ++i)
        if (has_word(libraries[i].headers, name)) return i;
    return -1;
}

bool ends_with(std::string_view text, std::string_view with)
{
    return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

bool is_constant(std::string_view word)
{
    return std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c); });
}

// The type that a known one is another name of; empty: none.
std::string_view known_type(std::string_view word)
{
    for (const auto& [type, names] : known_types)
        if (has_word(names, word)) return type;
    return "";
}

bool is_type(std::string_view word)
{
    return ends_with(word, "_t") || !known_type(word).empty() || has_word(other_types, word);
}

bool has_any(std::string_view word, std::initializer_list<const char*> parts)
{
    return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return word.find(part) != word.npos; });
}

// True if the word is a version number, whose value is not known here.
bool is_version(std::string_view word) { return has_any(word, {"_VER", "_MAJOR", "_MINOR", "_PATCH"}); }

bool is_handle(std::string_view type)
{
    return has_any(type, {"Handle", "Desc", "Generator", "Plan", "Program", "Context", "Info", "window", "monitor",
                          "Device", "sync", "Obj", "Module", "Display", "Surface"});
}

// Functions that only make or set what others compute with. Of OpenGL, whatever draws is one, too.
bool prepares(std::string_view function, std::string_view prefix)
{
    if (has_word(" gl glu glut glew ", prefix)) return !has_any(function, {"MainLoop", "Map", "ReadPixels"});
    return has_any(function, {"Create", "Destroy", "Set", "Init", "Plan", "Shutdown", "Finalize"}) &&
           !has_any(function, {"SetVector", "SetMatrix", "glfwInit", "glfwCreate", "eglInit", "eglCreate"}) &&
           function != "cudnnSetTensor";
}

std::string declaration(std::string_view type)
{
    const std::string name(type);
    if (const std::string known(known_type(type)); !known.empty()) return "using " + name + " = " + known + "; ";
    if (begins_with(type, "GLFW")) return "struct " + name + "; ";
    if (is_handle(type)) return "using " + name + " = struct sim_" + name + "*; ";
    // The type holds a number, and is different from all other types, because programs overload functions for them.
    return "struct " + name + " { long sim_value; constexpr " + name +
           "(long value = 0) : sim_value(value) {} constexpr operator long() const { return sim_value; } }; ";
}

class Names {
public:
    Names(const Source& source, std::set<int> used) : s_(source)
    {
        // These libraries use cuBLAS' names, too.
        for (int i : std::set<int>(used))
            for (const char* above : {"cuSOLVER is", "cuSPARSE is", "cuDNN is"})
                if (std::string_view(libraries[i].what) == above)
                    used.insert({library_of("cublas_v2.h"), library_of("cusparse.h")});
        if (used.count(library_of("GL/"))) graphics_ = library_of("GL/");
        for (int i : used)
            for (std::string_view name : words_in(libraries[i].names)) prefixes_.push_back({name, i});
    }

    std::string declarations()
    {
        note_own();
        std::set<std::string_view> types, constants;
        std::map<std::string_view, std::pair<std::string_view, std::string>> functions;
        for (int i = 1; i <= s_.count(); ++i) {
            const int library = library_at(i);
            if (library < 0) continue;
            const std::string_view word = s_.spelling(i);
            const std::string why = libraries[library].what + std::string(" not supported by the simulator; ") +
                                    libraries[library].instead;
            if (is_type(word)) types.insert(word);
            else if (is_constant(word) && !is_version(word)) constants.insert(word);
            else if (const std::string_view prefix = prefix_of(word); !prefix.empty() && s_.is(i + 1, "("))
                functions.insert({word, {prefix, why}});
            else throw Refusal{s_.begin_of(i), std::string(word) + ": " + why};
        }
        std::string text, bodies;
        for (const auto& [name, f] : functions) bodies += function(std::string(name), f.first, f.second, types);
        for (const std::string& type : statuses_) types.insert(type);
        for (std::string_view type : types) text += declaration(type);
        if (!bodies.empty()) text += "namespace sim { void library_call(const char*, const char*, void*); } " + bodies;
        // A status that means success is 0.
        int number = 0;
        for (std::string_view constant : constants) {
            const bool success = ends_with(constant, "SUCCESS") || ends_with(constant, "_OK");
            text += "enum : long { " + std::string(constant) + " = " + std::to_string(success ? 0 : ++number) + " }; ";
        }
        return text;
    }

private:
    // The beginning of a library function's name, such as cublas of cublasSgemm; empty for names of no such function.
    std::string_view prefix_of(std::string_view word) const
    {
        for (const auto& [prefix, library] : prefixes_)
            if (begins_with(word, prefix) && word.size() > prefix.size() && prefix.back() != '_' &&
                std::isupper(static_cast<unsigned char>(word[prefix.size()])))
                return prefix;
        return "";
    }

    // A function that takes anything. It succeeds if it only prepares, and otherwise ends the program when it is
    // reached. `types`: those that the program names.
    std::string function(const std::string& name, std::string_view prefix, const std::string& why,
                         const std::set<std::string_view>& types)
    {
        std::string type = "long";
        if (ends_with(name, "String") || ends_with(name, "Name")) {
            type = "const char*";
        } else if (why.find(no_graphics) == why.npos) {
            type = std::string(prefix) + "Status_t";
            for (const char* end : {"Result", "Result_t", "Return_t", "Status"})
                if (types.count(std::string(prefix) + end)) type = std::string(prefix) + end;
            statuses_.insert(type);
        }
        return "template <class... T> __attribute__((noinline, no_sanitize(\"thread\", \"kernel-address\"))) " + type +
               " " + name + "(T&&...) { " +
               (type == "const char*" || prepares(name, prefix)
                    ? ""
                    : "::sim::library_call(\"" + name + "\", \"" + why + "\", __builtin_return_address(0)); ") +
               "return " + (type == "const char*" ? "\"" + name + "\"" : type + "()") + "; } ";
    }

    // The library that the word at i names; -1: none.
    int library_at(int i) const
    {
        if (!s_.is_word(i) || s_[i].system || s_.is_any(i - 1, {".", "->"}) || own_.count(s_.spelling(i)))
            return -1;
        const std::string_view word = s_.spelling(i);
        for (const auto& [prefix, library] : prefixes_) {
            if (ends_with(prefix, "::")) {
                const bool scope = s_.is(i + 1, "::") && !s_.is(i - 1, "::");
                if (word == prefix.substr(0, prefix.size() - 2) &&
                    (scope || s_.is(i - 1, "namespace") || (s_.is(i - 1, "=") && s_.is(i - 3, "namespace"))))
                    return library;
                continue;
            }
            if (!begins_with(word, prefix)) continue;
            const unsigned char next = word.size() > prefix.size() ? word[prefix.size()] : ' ';
            if (prefix.back() == '_' || std::isupper(next) || std::isdigit(next) || (next == ' ' && s_.is(i + 1, "(")))
                return library;
        }
        const bool of_graphics = begins_with(word, "GL") || begins_with(word, "EGL");
        return graphics_ >= 0 && of_graphics && is_type(word) ? graphics_ : -1;
    }

    // Functions and variables of the program's own: `void cublasCheck(`, `cublasHandle_t cublasHandle;`.
    void note_own()
    {
        for (int i = 1; i <= s_.count(); ++i) {
            if (library_at(i) < 0 || is_type(s_.spelling(i))) continue;
            const bool word = is_operand(s_, i - 1) && !s_.is(i - 1, "namespace");
            const bool pointer = s_.is(i - 1, ">") || (s_.is_any(i - 1, {"*", "&"}) && is_operand(s_, i - 2));
            const bool typed = word || (pointer && !is_constant(s_.spelling(i)));
            const bool function = s_.is(i + 1, "(") && (word || at_namespace_scope(s_, i));
            const bool variable = s_.is_any(i + 1, {";", "=", ",", ")", "[", "{", ":"});
            if (typed && (function || variable)) own_.insert(s_.spelling(i));
        }
    }

    const Source& s_;
    std::vector<std::pair<std::string_view, int>> prefixes_;
    std::set<std::string_view> own_;
    std::set<std::string> statuses_;  // types that the functions return
    int graphics_ = -1;  // the library, if it is used
};

constexpr char anchor[] = "sim_library_names";

bool make_folders(const std::string& file)
{
    for (size_t slash = file.find('/', 1); slash != std::string::npos; slash = file.find('/', slash + 1))
        mkdir(file.substr(0, slash).c_str(), 0777);
    struct stat found;
    return stat(file.substr(0, file.rfind('/')).c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

std::string why_not(const std::string& header)
{
    const int library = library_of(header);
    return library < 0 ? ""
                       : header + ": " + libraries[library].what + " not supported by the simulator; " +
                             libraries[library].instead;
}

bool add_header(const std::string& folder, const std::string& header)
{
    const int library = library_of(header);
    const std::string file = folder + "/" + header;
    if (library < 0 || header.find("..") != std::string::npos || !make_folders(file)) return false;
    std::FILE* out = std::fopen(file.c_str(), "wx");
    if (!out) return false;
    // Programs rely on headers that the real library includes.
    const std::string names = libraries[library].names;
    const char* others = names.find("::") != std::string::npos
                             ? "#include <algorithm>\n#include <functional>\n#include <iterator>\n#include "
                               "<limits>\n#include <memory>\n#include <utility>\n"
                             : "#include <cuComplex.h>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include "
                               "<cuda_runtime.h>\n#include <library_types.h>\n";
    // No `#pragma once`: compilers may take two such headers with one text for the same.
    std::string guard = "SIM_";
    for (unsigned char c : header) guard += std::isalnum(c) ? char(c) : '_';
    const bool graphics = header.find('/') != std::string::npos && names.find(" gl ") != std::string::npos;
    std::fprintf(out, "#ifndef %s\n#define %s\n%sstruct %s;\n#endif\n", guard.c_str(), guard.c_str(),
                 graphics ? "" : others, anchor);
    return std::fclose(out) == 0;
}

LibraryNames library_names(const Source& source, const std::string& folder)
{
    LibraryNames names;
    std::set<int> used;
    for (const Marker& m : markers_in(source.text()))
        if (m.enters && begins_with(m.file, folder + "/")) used.insert(library_of(m.file.substr(folder.size() + 1)));
    used.erase(-1);
    if (used.empty()) return names;
    names.text = Names(source, used).declarations();
    for (int i = 1; i <= source.count() && !names.at; ++i)
        if (source.is(i, anchor)) names.at = i - 1;
    return names;
}

}  // namespace rewrite
