#include "headers.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "tokens.h"

namespace rewrite {
namespace {

// What is not supported, and what to do instead. The headers of each, between spaces: a folder ends in a slash, and every other name is whole,
// because a program's own header may be called cublas_tools.h.
struct Library {
    const char *what, *headers, *instead = "it runs kernels alone";
};
constexpr Library libraries[] = {
    {"Thrust is", " thrust/ ", "use cudaMalloc, cudaMemcpy and a kernel"},
    {"CUB is", " cub/ ", "write the algorithm as a kernel"},
    {"CUTLASS is", " cutlass/ cute/ ", "write the product as a kernel"},
    {"cuBLAS is", " cublas.h cublas_v2.h cublas_api.h cublasLt.h cublasXt.h nvblas.h ", "write the product as a kernel"},
    {"cuRAND is", " curand.h curand_kernel.h curand_mtgp32_kernel.h curand_mtgp32_host.h ", "write a generator of your own, such as a linear congruential one"},
    {"cuFFT is", " cufft.h cufftXt.h cufftw.h "},
    {"cuSPARSE is", " cusparse.h cusparse_v2.h cusparseLt.h "},
    {"cuSOLVER is", " cusolverDn.h cusolverSp.h cusolverMg.h cusolverRf.h cusolver_common.h "},
    {"cuDNN is", " cudnn.h cudnn_frontend.h "},
    {"cuTENSOR is", " cutensor.h "},
    {"NPP is", " npp.h nppi.h npps.h nppcore.h nppdefs.h "},
    {"nvJPEG is", " nvjpeg.h "},
    {"NVML is", " nvml.h "},
    {"CUPTI is", " cupti.h cupti_activity.h cupti_callbacks.h cupti_profiler_target.h ", "the simulator's report has the counts"},
    {"compilation at run time is", " nvrtc.h nvvm.h nvJitLink.h ", "write the kernel in the program"},
    {"tensor cores (nvcuda::wmma) are", " mma.h ", "write the product as a loop"},
    {"numbers of 4, 6 and 8 bits are", " cuda_fp4.h cuda_fp6.h cuda_fp8.h ", "use half"},
    {"textures are", " texture_types.h texture_indirect_functions.h texture_fetch_functions.h cuda_texture_types.h ", "read the array through a pointer"},
    {"surfaces are", " surface_types.h surface_indirect_functions.h surface_functions.h cuda_surface_types.h ", "access the array through a pointer"},
    {"graphics are", " cuda_gl_interop.h cuda_egl_interop.h cuda_vdpau_interop.h cuda_d3d9_interop.h cuda_d3d10_interop.h cuda_d3d11_interop.h cudaGL.h cudaEGL.h ",
     "copy the result with cudaMemcpy"},
};

// Behind the last slash, and up to it.
std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// As the program writes it: thrust/sort.h, of /usr/include/thrust/sort.h.
std::string as_included(const Marker& marker)
{
    for (size_t slash = marker.file.find('/'); marker.system && slash != std::string::npos; slash = marker.file.find('/', slash + 1))
        if (!why_not(marker.file.substr(slash + 1)).empty()) return marker.file.substr(slash + 1);
    return name_in(marker.file);
}

}  // namespace

std::string why_not(const std::string& header)
{
    const std::string folder = header.substr(0, header.find('/') + 1);
    for (const Library& library : libraries)
        if (std::string(library.headers).find(" " + (folder.empty() ? header : folder) + " ") != std::string::npos)
            return header + ": " + library.what + " not supported by the simulator; " + library.instead;
    return "";
}

// The runtime's functions are C++ here.
static std::string why_not_in_c(const std::string& header)
{
    const bool cuda = header.compare(0, 4, "cuda") == 0 || std::string(" driver_types.h vector_types.h builtin_types.h nccl.h ").find(" " + header + " ") != std::string::npos;
    return cuda && header.find('/') == std::string::npos ? header + ": CUDA in a file of C is not supported by the simulator; give the file a name that ends in .cpp or .cu" : why_not(header);
}

void check_headers(const std::string& text, bool c)
{
    static const std::string own = "common/sim/include/";
    const auto is_own = [](const std::string& file) { return file.find(own) != std::string::npos; };
    const std::vector<Marker> markers = markers_in(text);
    const auto first_own = std::find_if(markers.begin(), markers.end(), [&](const Marker& m) { return is_own(m.file); });
    const std::string folder = first_own == markers.end() ? "" : first_own->file.substr(0, first_own->file.find(own) + own.size());
    if (c) {
        for (const Marker& m : markers)
            if (const std::string why = m.enters ? why_not_in_c(name_in(m.file)) : ""; !why.empty()) throw Refusal{m.offset, why};
        return;
    }
    std::vector<const Marker*> stack;  // of what is being included
    for (const Marker& m : markers) {
        if (m.enters) stack.push_back(&m);
        if (m.returns && !stack.empty()) stack.pop_back();
        if (!m.enters || m.file[0] == '<' || is_own(m.file)) continue;
        const bool again = folder.empty() ? name_in(m.file) == "cuda_runtime.h" : std::ifstream(folder + name_in(m.file)).is_open();
        if (again && folder.empty()) throw Refusal{m.offset, m.file + " of a CUDA Toolkit is found before the simulator's own header; remove its folder from CPPFLAGS"};
        if (!again && why_not(as_included(m)).empty()) continue;
        // The toolkit's headers include each other: to blame is the first of them.
        size_t first = stack.size() - 1;
        while (first > 0 && folder_of(stack[first - 1]->file) == folder_of(m.file)) --first;
        const std::string header = as_included(*stack[first]), why = why_not(header);
        throw Refusal{stack[first]->offset, why.empty() ? header + ": this header of the CUDA Toolkit is not supported by the simulator" : why};
    }
}

std::string explain_missing(const std::string& errors, bool c)
{
    // program.cu:3:10: fatal error: thrust/sort.h: No such file or directory, in the reader's language. clang puts the name in quotes.
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ':');) fields.push_back(field);
        for (size_t i = 3; i < fields.size(); ++i) {
            const std::string field = fields[i].substr(fields[i].find(' ') == 0);
            const std::string name = field.find('\'') == 0 ? field.substr(1, field.find('\'', 1) - 1) : field, why = c ? why_not_in_c(name) : why_not(name);
            if (!why.empty() && name.find(' ') == std::string::npos && name.back() != '/') return fields[0] + ":" + fields[1] + ": " + why;
        }
    }
    return "";
}

}  // namespace rewrite
