"""`make try`: programs as others write them, of several files and languages, with headers that the simulator does not
have."""

import csv
import os
import re
import resource
import subprocess

import pytest

from found import findings
from lessons import make_try, run, tried_of
from samples import ALL

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")


def tried(folder, files, *variables):
    """Writes the files of a program, and tries it."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return make_try(" ".join(str(folder / name) for name in files if name.endswith(SOURCES)), *variables)


def own_output(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return re.sub(r"^  (C\+\+|link) .*\n", "", done.stdout, flags=re.M).split("\nSimulated: ")[0].strip()


def refusal(done):
    """What stands before make's own line."""
    assert done.returncode == 2, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ")]
    assert len(lines) == 1 and not done.stdout, done.stdout + done.stderr
    return lines[0]


# Doubles 32 numbers on the device.
DOUBLED = """
#include <cstdio>
__global__ void doubled(float* x) { x[threadIdx.x] *= 2; }
void on_device(float* h)
{
    float* d;
    cudaMalloc(&d, 32 * sizeof(float));
    cudaMemcpy(d, h, 32 * sizeof(float), cudaMemcpyHostToDevice);
    doubled<<<1, 32>>>(d);
    cudaMemcpy(h, d, 32 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d);
}
"""
MAIN = DOUBLED + """
extern "C" float* numbers(int n);
int main()
{
    float* h = numbers(32);
    on_device(h);
    printf("%g %g\\n", h[0], h[31]);
}
"""

# Files of C that are no C++, or other C++. Each gives 0, 1, 2, ...
C_FILES = {
    "conversion of void*": "#include <stdlib.h>\nfloat* numbers(int n) { int i; float* p = malloc(n * sizeof *p); "
                           "for (i = 0; i < n; i++) p[i] = i; return p; }",
    "parameters of the old style": "static float all[64];\nfloat* numbers(n) int n; { while (n--) all[n] = n; "
                                   "return all; }",
    "words of C++": "static float all[64];\nfloat* numbers(int class) { int new, this = 0, template = class; "
                    "for (new = this; new < template; new++) all[new] = new; return all; }",
    "no prototype": "static float all[64];\nstatic float as_float();\n"
                    "float* numbers(int n) { while (n--) all[n] = as_float(n); return all; }\n"
                    "static float as_float(i) int i; { return i; }",
    "no return": """#include <stdio.h>
static float all[64];
int compare(const float* a, int n) { int i; for (i = 0; i < n; i++) if (a[i] != i) printf("differs\\n"); }
void fill(float* a, int n) { int i; for (i = 0; i < n; i++) a[i] = i; }
float* numbers(int n) { fill(all, n); compare(all, n); return all; }""",
    "designators": "static float all[64] = {[2] = 2, [1] = 1};\nfloat* numbers(int n) { while (n-- > 3) all[n] = n; "
                   "return all; }",
    "restrict and array parameters": "static void fill(int n, float a[static restrict 1]) { while (n--) a[n] = n; }\n"
                                     "static float all[64];\nfloat* numbers(int n) { fill(n, all); return all; }",
    "an array of variable length": "#include <string.h>\nstatic float all[64];\n"
                                   "float* numbers(int n) { float a[n]; int i; for (i = 0; i < n; i++) a[i] = i; "
                                   "memcpy(all, a, sizeof a); return all; }",
    "compound literal, _Generic, _Bool": "static float all[64];\nfloat* numbers(int n) { _Bool one = n; struct S { int "
                                         "i; } *s = &(struct S){n}; while (s->i--) all[s->i] = _Generic(s->i, int: "
                                         "s->i, default: -one); return all; }",
    "an enumeration, a structure and a tag of the same name":
        "enum kind { A, B };\nstruct all { enum kind k; } all;\nstatic float a[64];\n"
        "float* numbers(int n) { enum kind k = 0; k = k + B; while (n--) a[n] = n * (int)k; return a; }",
    "a conditional on the language": "#ifdef __cplusplus\n#error this is C\n#endif\nstatic float all[64];\n"
                                     "float* numbers(int n) { while (n--) all[n] = n; return all; }",
    "NVCC and options of the preprocessor": "#if !defined __NVCC__ || __CUDACC_VER_MAJOR__ < 9\n#error nvcc\n#endif\n"
                                            "static float all[LENGTH];\nfloat* numbers(int n) { while (n--) all[n] = "
                                            "n; return all; }",
}


def numbered(text, names, number):
    """The text with a number after each of these names, so that it can share a program with others."""
    return re.sub(rf"\b({names})\b(?!\.)", rf"\1_{number}", text)


def test_files_of_c_are_compiled_as_c(tmp_path):
    """All of them in one program."""
    files, declared, called = {}, "", ""
    for number, text in enumerate(C_FILES.values()):
        files[f"{number}.c"] = numbered(text, "numbers", number) + "\n"
        declared += f'extern "C" float* numbers_{number}(int n);\n'
        called += f"    {{ float* h = numbers_{number}(32); on_device(h); printf(\"%g %g\\n\", h[0], h[31]); }}\n"
    done = tried(tmp_path, {"main.cu": f"{DOUBLED}{declared}int main()\n{{\n{called}}}\n", **files}, "SIM=--quiet",
                 "CPPFLAGS=-std=c++17 -DLENGTH=64")
    assert own_output(done).splitlines() == ["0 62"] * len(C_FILES) and done.stderr == ""


@pytest.mark.parametrize("compiler, c", [("g++", "gcc"), ("g++-12", "gcc-12"), ("clang++", "clang"),
                                         ("clang++-14", "clang-14"), ("c++", "cc"),
                                         ("ccache x86_64-linux-gnu-g++-13", "ccache x86_64-linux-gnu-gcc-13")])
def test_the_c_compiler_is_the_one_of_cxx(compiler, c):
    done = run("make", "-n", "-p", "NVCC=", f"CXX={compiler}", "help")
    assert f"\nTRY_CC := {c}\n" in done.stdout
    done = run("make", "-n", "-p", "NVCC=", f"CXX={compiler}", "CC=tcc -g", "help")
    assert "\nTRY_CC := tcc -g\n" in done.stdout


@pytest.mark.parametrize("header", ["cuda_runtime.h", "cuda.h", "driver_types.h", "cublas_v2.h"])
def test_cuda_in_a_file_of_c(header, tmp_path):
    """The functions of the runtime are C++ here. Whether or not a toolkit is installed, one line says so."""
    done = tried(tmp_path,
                 {"main.cu": MAIN, "numbers.c": f"\n#include <{header}>\nfloat* numbers(int n) {{ return 0; }}\n"})
    assert refusal(done).startswith(f"{tmp_path}/numbers.c:2: {header}: "), done.stderr


HEADER = ("""#pragma once
#include <cuda_runtime.h>
#define HD __host__ __device__
struct __align__(8) Pair { float x, y; HD float sum() const { return x + y; } \
__host__ __device__ explicit Pair(float a) : x(a), y(a) {} };
inline __host__ __device__ __forceinline__ float at(const float* p, int i) { return p[i]; }
template <typename T> HD T plus(T a, const T* b) { return a + *b; }
template <typename T> __global__ void fill(T* x);
__global__ void twice(float* x);
struct Operation { __device__ float operator()(float x) const; \
static __host__ __device__ __noinline__ int ten() { return 10; } };
extern __constant__ float factor[4];
void launch(float* x);
""")
KERNELS = """#include "shared.h"
__constant__ float factor[4] = {1, 2};
__global__ void twice(float* x) { const float y = at(x, threadIdx.x); x[threadIdx.x] = plus(y, &x[threadIdx.x]); }
void launch(float* x) { twice<<<1, 32>>>(x); }
"""
CPP = """#include "shared.h"
#include <cstdio>
#include <cstring>
#ifdef __CUDACC__
#error this is plain C++
#endif
int main()
{
    float h[32] = {3}, *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    launch(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    const float one = 1;
    printf("%g %g %g %d\\n", at(h, 0), plus(1.f, &one), Pair(2).sum(), Operation::ten());
}
"""


@pytest.mark.parametrize("order", [("main.cpp", "kernels.cu"), ("kernels.cu", "main.cc"), ("main.cxx", "kernels.cu")])
def test_plain_cpp_has_the_words_of_cuda(order, tmp_path):
    """And the kernels' accesses are counted, though a function that makes them is in the plain file, too."""
    texts = {name: CPP if name.startswith("main") else KERNELS for name in order}
    done = tried(tmp_path, {**texts, "shared.h": HEADER})
    assert own_output(done) == "6 2 4 10"
    for access, place in [("load", "shared.h:5"), ("load", "shared.h:6"), ("store", "kernels.cu:3")]:
        assert f"  {access} of global memory at {tmp_path}/{place}" in done.stdout, done.stdout


def test_findings_in_plain_cpp_have_a_place(tmp_path):
    done = tried(tmp_path,
                 {"main.cpp": "#include <cuda_runtime.h>\n\nint main() {\n    float* data;\n"
                              "    return cudaMalloc(&data, 100);\n}\n"},
                 "SIM=--quiet")
    assert (f": never freed: data (cudaMalloc at {tmp_path}/main.cpp:5), 100 bytes; call cudaFree [never-freed]\n"
            in done.stdout), done.stdout


REFUSED_IN_CPP = {
    "module": ("#include <cuda.h>\nint main() {\n    CUmodule m;\n    return cuModuleLoad(&m, \"k.ptx\");\n}\n", 4,
               "functions of the driver (cuModuleLoad) are not supported"),
    "virtual memory": ("#include <cuda.h>\nint main() { CUmemAllocationProp p = {}; size_t g;\n"
                       " return cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM); }\n",
                       3, "functions of the driver (cuMemGetAllocationGranularity) are not supported"),
    "graph": ("#include <cuda_runtime.h>\nint main() {\n cudaGraph_t g; cudaGraphCreate(&g, 0); }\n", 3,
              "CUDA graphs (cudaGraphCreate)"),
    "interop": ("#include <cuda_runtime.h>\nint main() {\n cudaGraphicsResource* r;\n"
                " return cudaGraphicsMapResources(1, &r, 0); }\n",
                3, "graphics (cudaGraphics"),
    "process": ("#include <cuda_runtime.h>\nint main() {\n cudaIpcMemHandle_t h; }\n", 3,
                "memory that processes share (cudaIpcMemHandle_t) is not supported"),
}


@pytest.mark.parametrize("name", REFUSED_IN_CPP)
def test_what_is_refused_in_cuda_is_refused_in_cpp(name, tmp_path):
    text, line, words = REFUSED_IN_CPP[name]
    for file in ("main.cpp", "main.cu"):
        said = refusal(tried(tmp_path, {file: text}))
        assert said.startswith(f"{tmp_path}/{file}:{line}: ") and words in said, said


@pytest.mark.parametrize("name, text", {
    "launch": DOUBLED + "int main() { float h[32] = {4}; on_device(h); printf(\"%g\\n\", h[0]); }\n",
    "launch in a header": '#include "kernel.h"\nint main() { float h[32] = {4}; on_device(h); printf("%g\\n", '
                          'h[0]); }\n',
}.items())
def test_cpp_with_kernels_is_cuda(name, text, tmp_path):
    done = tried(tmp_path, {"main.cpp": text, "kernel.h": DOUBLED}, "SIM=--quiet")
    assert own_output(done) == "8" and "try: 1 kernel, 1 launch, 0 findings" in done.stdout


def test_cpp_of_kernels_alone_is_cuda(tmp_path):
    done = tried(tmp_path,
                 {"kernels.cpp": "__global__ void one(float* x) { __shared__ float s[32]; s[threadIdx.x] = 1; "
                                 "__syncthreads(); x[threadIdx.x] = s[31 - threadIdx.x]; }\n",
                  "main.cu": "#include <cstdio>\n__global__ void one(float* x);\n"
                             "int main() { float h, *d; cudaMalloc(&d, 128); one<<<1, 32>>>(d); "
                             "cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); cudaFree(d); printf(\"%g\\n\", h); }\n"},
                 "SIM=--quiet")
    assert own_output(done) == "1"


def test_cpp_that_only_writes_about_launches_is_not(tmp_path):
    """In a text, in a comment, and behind #ifdef __CUDACC__."""
    done = tried(tmp_path,
                 {"main.cpp": '#include <cstdio>\n// k<<<1, 2>>>(3)\n#ifdef __CUDACC__\n__global__ void k(int);\n'
                              'void f() { k<<<1, 2>>>(3); }\n#endif\nstruct dim3 { int threadIdx; };\n'
                              'int main() { printf("k<<<1, 2>>>(3)\\n"); return dim3{0}.threadIdx; }\n'},
                 "SIM=--quiet")
    assert own_output(done) == "k<<<1, 2>>>(3)"


HOST_HEAVY = """#include <cstdio>
static int table[1000];
struct Matrix { int* data; int width; int& operator()(int row, int column) { return data[row * width + column]; } };
template <typename T> T total(const T* a, int n) { T sum = 0; for (int i = 0; i < n; ++i) sum += a[i]; return sum; }
__global__ void nothing() {}
int main()
{
    Matrix m{table, 10};
    for (int i = 0; i < 100; ++i) for (int j = 0; j < 10; ++j) m(i, j) += i * j;
    auto at = [&](int i) { return m.data[i]; };
    nothing<<<1, 32>>>();
    cudaDeviceSynchronize();
    printf("%d %d\\n", total(table, 1000), at(999));
}
"""


def test_the_host_is_not_watched(tmp_path):
    """100 million accesses of such loops took 0.5 s of processor time more than they do."""
    done = tried(tmp_path, {"heavy.cu": HOST_HEAVY}, "SIM=--quiet")
    assert own_output(done) == "222750 891"
    # The constructors of dim3 and of lambdas are watched, but nothing that a loop calls.
    assert "__tsan_read4" not in run("nm", tried_of(tmp_path) / "file1.o").stdout


# A library's header, and what a program may have of it: types and constants.
LIBRARIES = {
    "cublas_v2.h": "inline void check(cublasStatus_t s) { if (s != CUBLAS_STATUS_SUCCESS) printf(\"%d\\n\", "
                   "int(s)); } cublasHandle_t handle; cublasOperation_t operation = CUBLAS_OP_N; "
                   "struct Holder { cublasHandle_t handle = nullptr; cublasComputeType_t type = "
                   "CUBLAS_COMPUTE_32F; cudaDataType_t data = CUDA_R_16BF; cuComplex one; };",
    "cublasLt.h": "cublasLtHandle_t cublaslt_handle = NULL; static cublasComputeType_t cublas_compute_type; void "
                  "cublasCheck(cublasStatus_t s, int line) { if (s) printf(\"%d %d\\n\", line, int(s)); }",
    "cublas.h": "const char* name(cublasStatus s) { switch (s) { case CUBLAS_STATUS_SUCCESS: return \"ok\"; case "
                "CUBLAS_STATUS_ALLOC_FAILED: return \"memory\"; } return \"\"; }",
    "curand_kernel.h": "__global__ void with(curandState* states, curandStatePhilox4_32_10_t* others) {} void "
                       "states() { curandState* d; cudaMalloc(&d, sizeof(curandState)); cudaFree(d); }",
    "curand.h": "const char* name(curandStatus_t s) { return s == CURAND_STATUS_SUCCESS ? \"ok\" : \"\"; } "
                "curandGenerator_t generator;",
    "cufft.h": "__global__ void with(cufftComplex* x) { x[0].x = 1; } cufftHandle plan; bool good(cufftResult r) { "
               "return r == CUFFT_SUCCESS; } cufftReal real = 1; int direction = CUFFT_FORWARD;",
    "cusparse.h": "cusparseHandle_t h; bool good(cusparseStatus_t s) { return s == CUSPARSE_STATUS_SUCCESS; } "
                  "cusparseSpMatDescr_t m = nullptr;",
    "cusolverDn.h": "cusolverDnHandle_t h; cublasFillMode_t mode = CUBLAS_FILL_MODE_LOWER; bool "
                    "good(cusolverStatus_t s) { return CUSOLVER_STATUS_SUCCESS == s; }",
    "cudnn.h": "class Layer { cudnnHandle_t cudnnHandle; cudnnTensorDescriptor_t input = NULL; cudnnDataType_t "
               "type = CUDNN_DATA_FLOAT; };",
    "nvml.h": "nvmlDevice_t device; bool good(nvmlReturn_t r) { return r == NVML_SUCCESS; }",
    "nvrtc.h": "nvrtcProgram compiled; bool good(nvrtcResult r) { return r == NVRTC_SUCCESS; }",
    "thrust/sort.h": "int thrust_of(int x) { return std::max(x, 1); }",
    "cub/cub.cuh": "struct cub_ { int cub; };",
    "mma.h": "",
    "cuda_fp8.h": "",
    "GL/glut.h": "struct Mesh { GLuint buffer; GLfloat x; GLenum kind = GL_TRIANGLES; }; int glyph, GLOBAL = 3; "
                 "void draw(unsigned id = GLUT_DOUBLE);",
    "GL/glew.h": "GLuint buffer; void use(GLsizei n);",
    "cuda_gl_interop.h": "",
    "cudla.h": "",
    "nvscibuf.h": "NvSciBufObj object;",
    "nvToolsExtCuda.h": "void name(CUdevice d) { nvtxNameCuDevice(d, \"one\"); }",
    "nvToolsExtCudaRt.h": "void name(cudaStream_t s) { nvtxNameCudaStreamA(s, \"one\"); }",
}


TOGETHER = [["cublas.h"], [header for header in LIBRARIES if header != "cublas.h"]]  # not with cublas_v2.h


@pytest.mark.parametrize("headers", [[header] for header in LIBRARIES] if ALL else TOGETHER, ids=lambda h: h[0])
def test_headers_of_libraries_that_are_not_used(headers, tmp_path):
    """Whether or not they are installed. Helpers, handles and constants are no use of them. make test has many
    in one program, each part in a namespace."""
    parts = "".join(f"namespace part{i} {{\n{LIBRARIES[header]}\n}}\n" for i, header in enumerate(headers))
    text = (DOUBLED + "".join(f"#include <{header}>\n" for header in headers) + parts
            + 'int main() { float h[32] = {4}; on_device(h); printf("%g\\n", h[0]); }\n')
    done = tried(tmp_path, {"main.cu": text}, "SIM=--quiet")
    assert own_output(done) == "8" and done.stderr == ""


def test_headers_of_libraries_in_all_files_of_a_program(tmp_path):
    """In a header of the program's own, several at once, in plain C++, and each twice."""
    headers = ["cublas_v2.h", "cublasLt.h", "cufft.h", "thrust/device_vector.h", "cuda_runtime.h", "cublas_v2.h"]
    common = ("#pragma once\n" + "".join(f"#include <{header}>\n" for header in headers)
              + 'inline const char* name(cublasStatus_t s) { return s == CUBLAS_STATUS_SUCCESS ? "cublas" : "?"; }\n'
                'inline const char* name(cufftResult s) { return s == CUFFT_SUCCESS ? "cufft" : "?"; }\n')
    main = ('#include "common.h"\n#include <cstdio>\nvoid on_device(float* h);\nint main() { float h[32] = {4}; '
            'on_device(h); printf("%g %s %s\\n", h[0], name(cublasStatus_t(CUBLAS_STATUS_SUCCESS)), '
            'name(cufftResult())); }\n')
    done = tried(tmp_path, {"main.cpp": main, "common.h": common, "kernels.cu": '#include "common.h"\n' + DOUBLED},
                 "SIM=--quiet")
    assert own_output(done) == "8 cublas cufft" and done.stderr == ""


# A line that names what is refused at once, and what is said of it.
USES = {
    "address of a function": ("cufft.h", "auto* f = &cufftExecC2C;",
                              "cufftExecC2C: cuFFT is not supported by the simulator; it runs kernels alone"),
    "in a kernel": ("curand_kernel.h", "__global__ void k(curandState* s) { curand_init(1, 2, 3, s); }",
                    "curand_init: cuRAND is not supported by the simulator; write a generator of your own"),
    "a name without a suffix": ("curand_kernel.h", "__device__ unsigned f(curandState* s) { return curand(s); }",
                                "curand: cuRAND"),
    "a namespace": ("thrust/sort.h", "void f(int* p) { thrust::sort(p, p + 3); }",
                    "thrust: Thrust is not supported by the simulator; use cudaMalloc, cudaMemcpy and a kernel"),
    "using a namespace": ("cub/cub.cuh", "using namespace cub;",
                          "cub: CUB is not supported by the simulator; write the algorithm as a kernel"),
    "an alias of a namespace": ("cutlass/gemm/device/gemm.h", "namespace c = cutlass;", "cutlass: CUTLASS"),
    "a type of a namespace": ("thrust/device_vector.h", "struct S { thrust::device_vector<int>* v; };",
                              "thrust: Thrust"),
    "a version": ("cudnn.h", "int f() { return CUDNN_MAJOR; }", "CUDNN_MAJOR: cuDNN"),
    "images": ("npp.h", "Npp8u* image;", "Npp8u: NPP is"),
    "tensor cores": ("mma.h", "using namespace nvcuda;", "nvcuda::wmma"),
    "small numbers": ("cuda_fp8.h", "__nv_fp8_e4m3 x;", "__nv_fp8_e4m3: numbers of 4, 6 and 8 bits"),
    "interop": ("cuda_gl_interop.h", "void f(unsigned b) { cudaGLRegisterBufferObject(b); }",
                "cudaGLRegisterBufferObject"),
    "DRM": ("drm_fourcc.h", "int f() { return fourcc_code(1, 2, 3, 4); }", "fourcc_code: graphics"),
}
# Headers, declarations, what only prepares, the call that ends the program, and what is said of it.
CALLS = {
    "cuBLAS": ("cublas_v2.h", "cublasHandle_t h; float one = 1; const char* name(cublasStatus_t s);",
               "cublasCreate(&h); bool f = cublasSetStream(h, 0) != CUBLAS_STATUS_SUCCESS; if (f) return 5;",
               "cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 1, &one, d, 1, d, 1, &one, d, 1)",
               "cuBLAS is not supported by the simulator; write the product as a kernel"),
    "a copy of cuBLAS": ("cublas.h", "cublasStatus s;", "s = cublasInit(); if (s != CUBLAS_STATUS_SUCCESS) return 5;",
                         "s = cublasSetVector(1, 4, d, 1, d, 1)", "cuBLAS"),
    "in a macro": ("cublasLt.h", "cublasLtHandle_t h; int check(cublasStatus_t s) { return int(s); }\n"
                   "#define CHECK(call) if (check(call)) return 5\n", "CHECK(cublasLtCreate(&h));",
                   "CHECK(cublasLtMatmul(h, 0))", "cuBLAS"),
    "cuRAND": ("curand.h", "curandGenerator_t g;",
               "curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT); curandSetPseudoRandomGeneratorSeed(g, 1ULL);",
               "curandGenerateUniform(g, d, 32)", "cuRAND is not supported by the simulator; write a generator"),
    "cuFFT": ("cufft.h", "cufftHandle p; template <class T> bool check(T t) { return t != CUFFT_SUCCESS; }\n"
              "const char* name(cufftResult) { return 0; }",
              "if (check(cufftPlan1d(&p, 32, CUFFT_C2C, 1)) || name(cufftDestroy(p))) return 5;",
              "cufftExecC2C(p, (cufftComplex*)d, (cufftComplex*)d, CUFFT_FORWARD)",
              "cuFFT is not supported by the simulator; it runs kernels alone"),
    "overloads for each library": (
        "cusparse.h", "cusparseHandle_t h; int name(cudaError_t) { return 1; } "
                      "int name(cusparseStatus_t) { return 0; }",
        "if (name(cusparseCreate(&h)) || name(cudaGetLastError()) != 1) return 5;", "cusparseSpMV(h)", "cuSPARSE"),
    "cuSOLVER, with cuBLAS": ("cusolverDn.h", "cusolverDnHandle_t h; cublasHandle_t b;",
                              "cusolverDnCreate(&h); cublasCreate(&b);", "cusolverDnSgetrf_bufferSize(h)", "cuSOLVER"),
    "cuDNN": ("cudnn.h", "cudnnHandle_t h; cudnnTensorDescriptor_t t;",
              "cudnnCreate(&h); cudnnCreateTensorDescriptor(&t); cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, 1); "
              "printf(\"%s\\n\", cudnnGetErrorString(CUDNN_STATUS_SUCCESS));", "cudnnSetTensor(h, t, d, d)", "cuDNN"),
    "NVML": ("nvml.h", "unsigned n;", "if (nvmlInit()) return 5;", "nvmlDeviceGetCount(&n)", "NVML"),
    "compilation": ("nvrtc.h", "nvrtcProgram p;", "nvrtcResult r = nvrtcCreateProgram(&p, \"\", 0, 0, 0, 0); if (r) "
                    "return 5;", "nvrtcCompileProgram(p, 0, nullptr)",
                    "compilation at run time is not supported by the simulator; write the kernel in the program"),
    "GLUT": ("GL/glut.h", "void draw() { glClear(GL_COLOR_BUFFER_BIT); glutSwapBuffers(); } GLuint buffer;",
             "int n = 0; glutInit(&n, nullptr); glutInitDisplayMode(GLUT_DOUBLE | GLUT_RGBA); glutCreateWindow(\"x\"); "
             "glutDisplayFunc(draw); glGenBuffers(1, &buffer);", "glutMainLoop()",
             "graphics are not supported by the simulator; copy the result with cudaMemcpy"),
    "GLEW": ("GL/glew.h", "", "if (glewInit() != GLEW_OK) return 5; glViewport(0, 0, 1, 1);",
             "float* p = (float*)glMapBuffer(GL_ARRAY_BUFFER, GL_READ_ONLY); if (p) return 5", "graphics"),
    "GLFW": ("GLFW/glfw3.h", "GLFWwindow* w;", "", "if (!glfwInit()) return 5", "graphics"),
    "EGL": ("EGL/egl.h", "EGLDisplay e = 0;", "", "eglInitialize(e, nullptr, nullptr)", "graphics"),
    "cuDLA": ("cudla.h", "", "", "cudlaDeviceGetCount(nullptr)", "the deep-learning accelerator (cuDLA)"),
    "NvSci": ("nvscibuf.h", "NvSciBufModule m;", "", "NvSciBufModuleOpen(&m)", "buffers of NvSci"),
}


def in_both(table):
    """(name, suffix) for a program of each row, as CUDA and as plain C++; make test takes them in turn. A row with
    words of CUDA is CUDA alone."""
    return [(name, suffix) for i, (name, row) in enumerate(table.items()) for j, suffix in enumerate((".cu", ".cpp"))
            if (suffix == ".cu" if any("__" in text for text in row[:-1]) else ALL or (i + j) % 2)]


@pytest.mark.parametrize("name, suffix", in_both(USES))
def test_what_names_something_else_of_a_library_is_refused(name, suffix, tmp_path):
    header, text, words = USES[name]
    source = f"#include <cuda_runtime.h>\n#include <{header}>\n\n{text}\nint main() {{}}\n"
    said = refusal(tried(tmp_path, {f"main{suffix}": source}))
    assert said.startswith(f"{tmp_path}/main{suffix}:{4 + text.count(chr(10))}: ") and words in said, said


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_a_library_is_refused_when_it_is_reached(name, tmp_path):
    """The kernels before it are counted. Where it is not reached, the program runs to its end."""
    header, declared, prepared, call, words = CALLS[name]
    main = (f"#include <{header}>\n" + DOUBLED + declared + "\nint main(int argc, char**)\n{\n"
            + "float h[32] = {4}, *d = h;\n(void)d;\n" + prepared + "\non_device(h);\nprintf(\"%g\\n\", h[0]);\n"
            + f"if (argc > 1) {{\n{call};\nputs(\"behind\"); }}\n}}\n")
    done = tried(tmp_path, {"main.cu": main}, "SIM=--quiet", "ARGS=call")
    (found,) = findings(done)
    line = main[:main.index(f"{call};\nputs")].count("\n") + 1
    function = re.search(r"\w+(?=\()", call.replace("CHECK(", "").replace("if (", "").replace("(float*)", ""))[0]
    assert found.startswith(f"not simulated: {function} at {tmp_path}/main.cu:{line}: {words}"), done.stdout
    assert found.endswith("; the program ends here")
    assert "behind" not in done.stdout and "8\n" in done.stdout
    assert "try: 1 kernel, 1 launch, 1 finding\n" in done.stdout
    done = again(tried_of(tmp_path) / "main", "--quiet")
    assert done.returncode == 0 and done.stdout.endswith("try: 1 kernel, 1 launch, 0 findings\n"), done.stdout


def test_a_call_of_a_library_in_plain_cpp(tmp_path):
    text = ("#include <GL/glut.h>\n#include <cublas_v2.h>\nint main()\n{\n    cublasHandle_t h;\n"
            "    if (cublasCreate(&h) == CUBLAS_STATUS_SUCCESS) glutMainLoop();\n}\n")
    done = tried(tmp_path, {"main.cpp": text}, "SIM=--quiet")
    assert findings(done)[0].startswith(f"not simulated: glutMainLoop at {tmp_path}/main.cpp:6: graphics"), done.stdout


@pytest.mark.parametrize("text, words", [("#include <GL/gl.h>", "GL/gl.h: graphics are not supported"),
                                         ("#include <nvml.h>", "nvml.h: NVML is not supported")])
def test_libraries_in_a_file_of_c(text, words, tmp_path):
    said = refusal(tried(tmp_path, {"main.cu": MAIN, "numbers.c": text + "\n" + C_FILES["designators"]}))
    assert said.startswith(f"{tmp_path}/numbers.c:1: ") and words in said, said


def test_names_of_a_librarys_kind_without_its_header(tmp_path):
    """They are the program's own."""
    own = ("namespace thrust { int sort(int x) { return x; } } int cublasCreate() { return 1; } void glClear(int) "
           "{} enum { CUFFT_FORWARD = 5, GL_RGB };\n")
    text = DOUBLED + own + ('int main() { float h[32] = {4}; on_device(h); glClear(GL_RGB); printf("%g %d\\n", '
                            'h[0], thrust::sort(cublasCreate() + CUFFT_FORWARD)); }\n')
    assert own_output(tried(tmp_path, {"main.cu": text}, "SIM=--quiet")) == "8 6"


# Names that the headers lack, and the line that uses each.
UNDECLARED = {
    "function of the runtime": ("void f() { cudaDeviceGetTexture1DLinearMaxWidth(nullptr, nullptr, 0); }",
                                "cudaDeviceGetTexture1DLinearMaxWidth: the simulator has no such function of the CUDA "
                                "runtime"),
    "in a condition": ("bool f() { return cudaDeviceFlushGPUDirectRDMAWrites(0, 0) != cudaSuccess; }",
                       "cudaDeviceFlushGPUDirectRDMAWrites: the simulator has no such function"),
    "a misspelt name": ("void f(int* p) { cudaMaloc(&p, 3); }", "cudaMaloc: the simulator has no such function"),
    "type": ("void f() { cudaMemPoolProps props = {}; }",
             "cudaMemPoolProps: the simulator has no such type of the CUDA runtime"),
    "type of a parameter": ("void f(const cudaExternalMemoryHandleDesc& d);",
                            "cudaExternalMemoryHandleDesc: the simulator has no such type"),
    "pointer": ("cudaResourceViewDesc* view;", "cudaResourceViewDesc: the simulator has no such type"),
    "function of the driver": ("#include <cuda.h>\nvoid f(CUstream s) { cuStreamWaitValue32(s, 0, 0, 0); }",
                               "cuStreamWaitValue32: the simulator has no such function of the CUDA driver; use the "
                               "functions of the runtime"),
    "type of the driver": ("#include <cuda.h>\nCUtexref reference;",
                           "CUtexref: the simulator has no such type of the CUDA driver"),
    "array": ("void f(cudaArray_t a) { cudaMallocArray(&a, nullptr, 3, 3); }",
              "cudaMallocArray: the simulator has no arrays and textures"),
    "pool": ("void f(cudaMemPool_t p) { cudaMemPoolCreate(&p, nullptr); }",
             "cudaMemPoolCreate: the simulator has no memory pools"),
    "copy to an array": ("void f() { cudaMemcpyToArray(nullptr, 0, 0, nullptr, 0, cudaMemcpyHostToDevice); }",
                         "cudaMemcpyToArray: the simulator has no arrays and textures"),
}


@pytest.mark.parametrize("name, suffix", in_both(UNDECLARED))
def test_what_the_headers_do_not_declare_is_one_line(name, suffix, tmp_path):
    text, words = UNDECLARED[name]
    said = refusal(tried(tmp_path, {f"main{suffix}": f"#include <cuda_runtime.h>\n\n{text}\nint main() {{}}\n"}))
    assert said.startswith(f"{tmp_path}/main{suffix}:{3 + text.count(chr(10))}: {words}"), said


def test_names_of_the_program_that_begin_like_those_of_cuda(tmp_path):
    """Functions, types, variables and members of its own."""
    text = DOUBLED + """
#include <vector>
struct CUDATimer { CUDATimer() : cudaStart(1) {} int cudaStart; int cudaElapsed() const { return cudaStart; } };
class cudaBuffer;
template <typename cudaType> cudaType cudaTwice(cudaType x) { return 2 * x; }
using cuReal = float;
typedef struct { cuReal x; } cuPoint;
enum cudaKind { cudaOne = 1 };
std::vector<int> cuList(int n);
std::vector<int> cuList(int n) { return std::vector<int>(n); }
int* cudaPointer(int* p) { return p; }
static int cudaCheckIt(cudaError_t error) { return int(error); }
extern int cuCount;
int cuCount = 1, cuOther = 2;
int main()
{
    float h[32] = {4};
    on_device(h);
    CUDATimer timer;
    auto cudaSum = [](int a, int b) { return a + b; };
    cuPoint p{1};
    const cuReal one = p.x;
    cudaKind kind = cudaOne;
    int cudaLocal(3);
    int (*cudaFunction)(cudaError_t) = cudaCheckIt;
    printf("%g %d\\n", h[0], timer.cudaElapsed() + cudaTwice(cuCount) + int(cuList(cuOther).size()) + \
*cudaPointer(&cuCount) + cudaSum(int(one), kind) + cudaLocal + cudaFunction(cudaSuccess));
}
"""
    assert own_output(tried(tmp_path, {"main.cu": text}, "SIM=--quiet")) == "8 11"


def test_the_access_to_a_pool(tmp_path):
    text = """#include <cstdio>
int main()
{
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemAccessDesc wanted = {};
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemAccessFlags flags;
    printf("%d ", cudaMemPoolSetAccess(pool, &wanted, 1));
    printf("%d ", cudaMemPoolGetAccess(&flags, pool, &wanted.location));
    printf("%d ", flags == cudaMemAccessFlagsProtReadWrite);
    wanted.location.id = 1;
    printf("%s\\n", cudaGetErrorName(cudaMemPoolSetAccess(pool, &wanted, 1)));
}
"""
    done = tried(tmp_path, {"pool.cu": text}, "SIM=--quiet")
    assert own_output(done) == "0 0 1 cudaErrorInvalidDevice"
    done = tried(tmp_path, {"pool.cu": text}, "SIM=--quiet --gpus 2")
    assert done.stdout.startswith("0 0 1 cudaErrorNotSupported\n")
    assert (f"error: not simulated: cudaMemPoolSetAccess at {tmp_path}/pool.cu:14 changes the access of device 1 "
            "to the pool of device 0; use cudaMalloc") in done.stdout, done.stdout


# Texts that nvcc accepts and a compiler of C++ does not. Each defines total(), which gives 36.
ACCEPTED = {
    "no space before __global__": 'extern "C"__global__ void three(int* x) { x[threadIdx.x] = 3; }\n'
                                  'int total() { return 33 + ran(three); }',
    "no space before __device__": 'extern "C"__device__ int three() { return 3; }\n'
                                  '__global__ void k(int* x) { x[threadIdx.x] = three(); }\n'
                                  'int total() { return 33 + ran(k); }',
    "no space before __host__": 'extern "C"__host__ __device__ int three() { return 3; }\n'
                                'int total() { return 33 + three(); }',
    "no space before __forceinline__": 'extern "C"__forceinline__ __device__ int three() { return 3; }\n'
                                       '__global__ void k(int* x) { x[threadIdx.x] = three(); }\n'
                                       'int total() { return 33 + ran(k); }',
    "a block without a space": 'extern "C"{ __global__ void three(int* x) { x[threadIdx.x] = 3; } }\n'
                               'int total() { return 33 + ran(three); }',
    "backslash before a comment": "int total()\n{\n    return 30 + \\ // five\n           5 + \\ /* and one */\n"
                                  "           1;\n}",
    "backslash before an empty comment": "int total() {\n    int a = 35; \\ //\n    return a + 1;\n}",
    "backslash between specifiers": "__global__ \\ // a kernel\nvoid three(int* x) \\ // of one array\n"
                                    "{ x[threadIdx.x] = 3; }\nint total() { return 33 + ran(three); }",
    "backslash in a launch": "__global__ void three(int* x) { x[threadIdx.x] = 3; }\n"
                             "int total() { int h, *d; cudaMalloc(&d, 128); three<<<1, \\ // blocks\n"
                             " 32>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); cudaFree(d); return 33 + h; }",
    "backslashes in literals": "int total() { const char* s = \"\\\\ // no comment\"; return s[0] == '\\\\' ? 36 : 0; "
                               "}",
}


def test_what_nvcc_accepts(tmp_path):
    """All of it in one program."""
    text = ("#include <cstdio>\nint ran(void (*kernel)(int*)) { int h, *d; cudaMalloc(&d, 128); kernel<<<1, 32>>>(d); "
            "cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); cudaFree(d); return h; }\n"
            + "\n".join(numbered(text, "total|three|k", i) for i, text in enumerate(ACCEPTED.values()))
            + "\nint main()\n{\n"
            + "".join(f'    printf("%d\\n", total_{i}());\n' for i in range(len(ACCEPTED))) + "}\n")
    assert own_output(tried(tmp_path, {"main.cu": text}, "SIM=--quiet")).splitlines() == ["36"] * len(ACCEPTED)


def test_a_backslash_elsewhere(tmp_path):
    """nvcc refuses it, and so does the compiler."""
    done = tried(tmp_path, {"main.cu": "int main() { int a = \\ 3; return a; }\n"})
    assert done.returncode == 2 and "main.cu:1:" in done.stderr and "error:" in done.stderr, done.stderr


GRID = """#include <cstdio>
__global__ void mark(int* ran) { if (threadIdx.x == 0) ran[blockIdx.x + blockIdx.y * gridDim.x] = 1; }
__global__ void next(const int* ran, int* out) { \
out[blockIdx.x * 32 + threadIdx.x] = ran[(blockIdx.x + 1) % gridDim.x]; }
int main()
{
    int *d, *out, h[100];
    cudaMalloc(&d, sizeof h);
    cudaMalloc(&out, 100 * 32 * 4);
    cudaMemset(d, 0, sizeof h);
    for (int i = 0; i < 2; ++i) mark<<<dim3(20, 5), 32>>>(d);
    next<<<3, 32>>>(d, out);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int* copied = new int[3200];
    cudaMemcpy(copied, out, 3200 * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 100; ++i) if (h[i]) printf("%d ", i);
    printf("\\n");
    cudaFree(d);
    cudaFree(out);
}
"""


def again(program, options, *arguments):
    """Runs a program that `make try` has built."""
    return run(program, *arguments, env={**os.environ, "SIM_OPTIONS": options})


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    assert own_output(tried(folder, {"grid.cu": GRID}, "SIM=--blocks 1")) == "0"
    return tried_of(folder) / "grid"


@pytest.mark.parametrize("blocks, ran", [(1, [0]), (2, [0, 99]), (4, [0, 33, 66, 99]), (10, range(0, 100, 11)),
                                         (51, [n * 99 // 50 for n in range(51)]), (100, range(100)),
                                         (1000, range(100))])
def test_a_sample_of_the_blocks(blocks, ran, grid, tmp_path):
    """The first, the last, and others evenly between. The report and the CSV file say which counts are of a sample."""
    done = again(grid, f"--blocks {blocks} --csv {tmp_path}/counts.csv")
    assert own_output(done).split() == [str(i) for i in ran], done.stdout
    assert "A sample: no more than " in done.stdout and "the program's results are not right" in done.stdout
    label = f", of a sample: {2 * blocks} of 200 blocks\n" if blocks < 100 else "\n"
    assert f"\nmark<<<(20, 5), 32>>> x 2{label}" in done.stdout, done.stdout
    assert ("\nnext<<<3, 32>>> x 1\n" in done.stdout) == (blocks >= 3)
    with open(tmp_path / "counts.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert ({(row["kernel"], row["launches"], row["blocks_run"]) for row in rows}
            == {("mark", "2", str(2 * min(blocks, 100))), ("next", "1", str(min(blocks, 3)))})
    assert {row["requests"] for row in rows if row["kernel"] == "mark"} == {str(2 * min(blocks, 100))}


def test_without_a_sample_the_search_for_uninitialized_memory_is_there(grid):
    done = again(grid, "--quiet")
    assert "warning: never written: cudaMemcpy" in done.stdout and "A sample" not in done.stdout


SLOW = """#include <cstdio>
#ifndef TURNS
#define TURNS 1000
#endif
__global__ void slow(float* x, int turns) { for (int i = 0; i < turns; ++i) x[blockIdx.x * 256 + threadIdx.x] += i; }
int main(int argc, char**)
{
    const int turns = argc > 1 ? 2 : TURNS;
    float* d;
    cudaMalloc(&d, 200 * 256 * sizeof(float));
    cudaMemset(d, 0, 200 * 256 * sizeof(float));
    for (int i = 0; i < 2; ++i) slow<<<200, 256>>>(d, turns);
    cudaFree(d);
}
"""


def test_a_long_launch_says_how_far_it_is(tmp_path):
    """Once of each kernel."""
    done = tried(tmp_path, {"slow.cu": SLOW}, "SIM=--quiet --patience 1")
    (line,) = [line for line in done.stderr.splitlines() if "blocks done" in line]
    assert re.fullmatch(r"slow: slow<<<200, 256>>>: \d+ of 200 blocks done in \d+ s, about \d+ (s|min) left; "
                        r"Ctrl-C ends the program with a report; the simulator's option --blocks (\d+) runs a sample "
                        r"of each launch, in about 1 s", line), line
    assert done.returncode == 0 and tried(tmp_path, {"slow.cu": SLOW}, "SIM=--quiet --patience 1",
                                          "ARGS=short").stderr == ""


def test_a_long_launch_says_so_after_a_second(tmp_path):
    """And which sample takes as long as it may."""
    done = tried(tmp_path, {"slow.cu": SLOW.replace("x[blockIdx.x * 256 + threadIdx.x] += i",
                                                    "x[blockIdx.x * 256 + threadIdx.x] += i % 7")},
                 "SIM=--quiet --patience 3", "CPPFLAGS=-DTURNS=3000")
    lines = [line for line in done.stderr.splitlines() if "blocks done in" in line]
    for line in lines:  # a fast machine has none
        progress = re.search(r"(\d+) of 200 blocks done in (\d+) s, about (\d+) s left", line)
        number, seconds, left = map(int, progress.groups())
        assert seconds <= 3 and seconds + left >= 3
        assert abs(int(re.search(r"--blocks (\d+)", line)[1]) - number * 3 / seconds) <= number * 3 / seconds


def test_a_missing_header_of_libcu_is_one_line(tmp_path):
    said = refusal(tried(tmp_path, {"main.cu": "\n#include <cuda/std/span>\nint main() {}\n"}))
    assert said == f"{tmp_path}/main.cu:2: cuda/std/span: this header of libcu++ is not supported by the simulator"


@pytest.mark.parametrize("options", ["--blocks 0", "--blocks", "--blocks many", "--blocks -1", "--patience 0"])
def test_bad_samples(options, grid):
    done = again(grid, options)
    assert done.returncode == 2 and options.split()[0] in done.stderr and "Simulated" not in done.stdout


ENDED_SEARCH = """
__global__ void load(const char* in, char* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void fill(char* bytes, int n) { \
for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 64 * 256) bytes[i] = 1; }
int main()
{
    char *bytes, *out;
    cudaMalloc(&bytes, 16 << 20);
    cudaMalloc(&out, 32);
    load<<<1, 32>>>(bytes, out);
    fill<<<64, 256>>>(bytes, 16 << 20);
    cudaFree(bytes);
    cudaFree(out);
}
"""


def test_a_search_that_ended_early_does_not_deny_what_it_found(tmp_path):
    """The record of the memory grows with what is accessed. A note that nothing was searched would contradict the
    finding."""
    tried(tmp_path, {"search.cu": ENDED_SEARCH}, "SIM=--quiet --blocks 1")
    limit = 600 << 20
    done = subprocess.run([tried_of(tmp_path) / "search"], env={**os.environ, "SIM_OPTIONS": "--quiet"},
                          capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert ("warning: load: uninitialized load of 1 bytes at byte 0 of bytes (cudaMalloc"
            in done.stdout), done.stdout + done.stderr
    (note,) = [line for line in done.stdout.splitlines() if line.startswith("note: ")]
    assert (note.startswith("note: the search for races and uninitialized loads in bytes (cudaMalloc at ")
            and note.endswith("; what it found before holds")), note


# An index of shared memory, and the access if it wraps at 32 bits.
WRAPS = {
    "not": ("int* b = s + 63; unsigned i = threadIdx.x; out[threadIdx.x] = b[~i];",
            "load of 4 bytes at byte 17179869432 of shared memory \\(s\\)"),
    "store": ("int* b = s + 63; unsigned i = threadIdx.x; b[~i] = 1;",
              "store of 4 bytes at byte 17179869432 of shared memory \\(s\\)"),
    "minus": ("unsigned i = threadIdx.x; out[i] = (s + 32)[-i - 1];",
              "load of 4 bytes at byte 17179869308 of shared memory \\(s\\)"),
    "char": ("char* b = (char*)(s + 63); unsigned i = threadIdx.x; out[i] = b[~i];",
             "load of 1 bytes at byte 4294967547 of shared memory \\(s\\)"),
    "double": ("double* b = (double*)(s + 62); unsigned i = threadIdx.x % 8; out[threadIdx.x] = b[~i];",
               "load of 8 bytes at byte 34359738608 of shared memory \\(s\\)"),
    "dynamic": ("extern __shared__ int t[]; t[threadIdx.x] = 1; int* b = t + 32; unsigned i = threadIdx.x; out[i] = "
                "b[~i];",
                "load of 4 bytes at byte 17179869308 of dynamic shared memory"),
    "signed": ("int* b = s + 63; int i = threadIdx.x; out[threadIdx.x] = b[~i];", ""),
    "64 bits": ("int* b = s + 63; size_t i = threadIdx.x; out[threadIdx.x] = b[~i];", ""),
}


@pytest.fixture(scope="module")
def wraps(tmp_path_factory):
    """The program of all of them. The number of its arguments chooses one."""
    folder = tmp_path_factory.mktemp("wraps")
    kernels = "".join(f"""
__global__ void k{i}(int* out) {{ __shared__ int s[64]; s[threadIdx.x] = s[threadIdx.x + 32] = 1; __syncthreads();
    {text}
}}""" for i, (text, _) in enumerate(WRAPS.values()))
    listed = ", ".join(f"k{i}" for i in range(len(WRAPS)))
    tried(folder, {"wraps.cu": f"""{kernels}
void (*const kernels[])(int*) = {{{listed}}};
int main(int count, char**) {{ int* d; cudaMalloc(&d, 128); kernels[count - 1]<<<1, 32, 128>>>(d);
    cudaDeviceSynchronize(); cudaFree(d); }}
"""}, "SIM=--quiet")
    return tried_of(folder) / "wraps"


@pytest.mark.parametrize("number", range(len(WRAPS)), ids=list(WRAPS))
def test_an_index_of_shared_memory_that_wraps(number, wraps):
    """It reaches the array on a GPU, where an address of shared memory has 32 bits. The finding names that array, and
    no other memory."""
    done = again(wraps, "--quiet", *["x"] * number)
    assert "1 launch," in done.stdout, done.stdout + done.stderr
    found = findings(done)
    words = list(WRAPS.values())[number][1]
    if not words:
        assert not found, found
    else:
        assert len(found) == 1 and re.match(
            f"k{number}: out-of-bounds {words}.*: thread \\(0, 0, 0\\) at "
            f".*/wraps.cu:{3 * number + 3}, .*; an address of shared memory has 32 bits on a GPU, "
            "so this index wraps and reaches the array; compute it with signed "
            "numbers", found[0]), found
