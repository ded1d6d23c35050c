"""`make try`: programs as others write them, of several files and languages, with headers that the simulator does not
have. make test tries a few of each table."""

import csv
import os
import re

import pytest

from found import findings
from lessons import make_try, run, tried_of
from samples import some

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")


def tried(folder, files, *variables):
    """Writes the files of a program, and tries it."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return make_try(" ".join(str(folder / name) for name in files if name.endswith(SOURCES)), *variables)


def own_output(done):
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.sub(r"^  (\d+ of \S+ +)?(C\+\+|sim|link) .*\n", "", done.stdout, flags=re.M)
    return said.split("\nSimulated: ")[0].strip()


def refusal(done):
    """What stands before make's own line."""
    assert done.returncode == 2, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ")]
    assert len(lines) == 1 and not done.stdout, done.stdout + done.stderr
    return lines[0]


def again(program, options, *arguments):
    """Runs a program that `make try` has built."""
    return run(program, *arguments, env={**os.environ, "SIM_OPTIONS": options})


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

# Files of C that are no C++, or other C++. Each gives 0, 1, 2, ...
C_FILES = {
    "conversion of void*": "#include <stdlib.h>\nfloat* numbers(int n) { int i; float* p = malloc(n * sizeof *p); "
                           "for (i = 0; i < n; i++) p[i] = i; return p; }",
    "words of C++": "static float all[64];\nfloat* numbers(int class) { int new, this = 0, template = class; "
                    "for (new = this; new < template; new++) all[new] = new; return all; }",
    "no return": """#include <stdio.h>
static float all[64];
int compare(const float* a, int n) { int i; for (i = 0; i < n; i++) if (a[i] != i) printf("differs\\n"); }
void fill(float* a, int n) { int i; for (i = 0; i < n; i++) a[i] = i; }
float* numbers(int n) { fill(all, n); compare(all, n); return all; }""",
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


def test_plain_cpp_has_the_words_of_cuda(tmp_path):
    """And the kernels' accesses are counted, though a function that makes them is in the plain file, too."""
    done = tried(tmp_path, {"main.cpp": CPP, "kernels.cu": KERNELS, "shared.h": HEADER}, "SIM=--explain")
    assert own_output(done) == "6 2 4 10"
    for access, place in [("load", "shared.h:5"), ("load", "shared.h:6"), ("store", "kernels.cu:3")]:
        assert f"  {access} of global memory at {tmp_path}/{place}" in done.stdout, done.stdout


# A library's header, and what a program may have of it: types and constants.
LIBRARIES = {
    "cublas_v2.h": "inline void check(cublasStatus_t s) { if (s != CUBLAS_STATUS_SUCCESS) printf(\"%d\\n\", "
                   "int(s)); } cublasHandle_t handle; cublasOperation_t operation = CUBLAS_OP_N; "
                   "struct Holder { cublasHandle_t handle = nullptr; cublasComputeType_t type = "
                   "CUBLAS_COMPUTE_32F; cudaDataType_t data = CUDA_R_16BF; cuComplex one; };",
    "curand_kernel.h": "__global__ void with(curandState* states, curandStatePhilox4_32_10_t* others) {} void "
                       "states() { curandState* d; cudaMalloc(&d, sizeof(curandState)); cudaFree(d); }",
    "thrust/sort.h": "int thrust_of(int x) { return std::max(x, 1); }",
    "cub/cub.cuh": "struct cub_ { int cub; };",
    "mma.h": "",
    "GL/glut.h": "struct Mesh { GLuint buffer; GLfloat x; GLenum kind = GL_TRIANGLES; }; int glyph, GLOBAL = 3; "
                 "void draw(unsigned id = GLUT_DOUBLE);",
}


def test_headers_of_libraries_that_are_not_used(tmp_path):
    """Whether or not they are installed. Helpers, handles and constants are no use of them."""
    parts = "".join(f"namespace part{i} {{\n{text}\n}}\n" for i, text in enumerate(LIBRARIES.values()))
    text = (DOUBLED + "".join(f"#include <{header}>\n" for header in LIBRARIES) + parts
            + 'int main() { float h[32] = {4}; on_device(h); printf("%g\\n", h[0]); }\n')
    done = tried(tmp_path, {"main.cu": text}, "SIM=--quiet")
    assert own_output(done) == "8" and done.stderr == ""


# What is refused before it is compiled: the text, whose last line is named, and what is said of it.
REFUSED = {
    "a function of the driver": ("#include <cuda.h>\nint f(CUmodule* m) { return cuModuleLoad(m, \"k.ptx\"); }",
                                 "functions of the driver (cuModuleLoad) are not supported"),
    "a library's function": ("#include <cufft.h>\nauto* f = &cufftExecC2C;",
                             "cufftExecC2C: cuFFT is not supported by the simulator; it runs kernels alone"),
    "a namespace": ("#include <thrust/sort.h>\nvoid f(int* p) { thrust::sort(p, p + 3); }",
                    "thrust: Thrust is not supported by the simulator; use cudaMalloc, cudaMemcpy and a kernel"),
    "a function that the headers lack": ("void f() { cudaDeviceGetTexture1DLinearMaxWidth(nullptr, nullptr, 0); }",
                                         "cudaDeviceGetTexture1DLinearMaxWidth: the simulator has no such function of "
                                         "the CUDA runtime"),
    "a type that the headers lack": ("void f(const cudaExternalMemoryHandleDesc& d);",
                                     "cudaExternalMemoryHandleDesc: the simulator has no such type"),
    "a header of libcu++": ("#include <cuda/std/span>",
                            "cuda/std/span: this header of libcu++ is not supported by the simulator"),
}


def test_what_is_refused_is_one_line(tmp_path):
    """In CUDA and, unless the text has words of CUDA, in plain C++."""
    wrong = {}
    for name, (text, words) in some(REFUSED.items(), 6):
        for suffix in (".cu",) if "__" in text else some((".cu", ".cpp"), 2):
            done = tried(tmp_path, {f"main{suffix}": f"#include <cuda_runtime.h>\n\n{text}\nint main() {{}}\n"})
            said = refusal(done)
            if not (said.startswith(f"{tmp_path}/main{suffix}:{3 + text.count(chr(10))}: ") and words in said):
                wrong[name, suffix] = said
    assert not wrong


# Headers, declarations, what only prepares, the call that ends the program, and what is said of it.
CALLS = {
    "cuBLAS": ("cublas_v2.h", "cublasHandle_t h; float one = 1; const char* name(cublasStatus_t s);",
               "cublasCreate(&h); bool f = cublasSetStream(h, 0) != CUBLAS_STATUS_SUCCESS; if (f) return 5;",
               "cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 1, &one, d, 1, d, 1, &one, d, 1)",
               "cuBLAS is not supported by the simulator; write the product as a kernel"),
    "in a macro": ("cublasLt.h", "cublasLtHandle_t h; int check(cublasStatus_t s) { return int(s); }\n"
                   "#define CHECK(call) if (check(call)) return 5\n", "CHECK(cublasLtCreate(&h));",
                   "CHECK(cublasLtMatmul(h, 0))", "cuBLAS"),
    "GLUT": ("GL/glut.h", "void draw() { glClear(GL_COLOR_BUFFER_BIT); glutSwapBuffers(); } GLuint buffer;",
             "int n = 0; glutInit(&n, nullptr); glutInitDisplayMode(GLUT_DOUBLE | GLUT_RGBA); glutCreateWindow(\"x\"); "
             "glutDisplayFunc(draw); glGenBuffers(1, &buffer);", "glutMainLoop()",
             "graphics are not supported by the simulator; copy the result with cudaMemcpy"),
}


def test_a_call_of_a_library_is_refused_when_it_is_reached(tmp_path):
    """The kernels before it are counted. Where it is not reached, the program runs to its end."""
    for header, declared, prepared, call, words in some(CALLS.values(), 3):
        main = (f"#include <{header}>\n" + DOUBLED + declared + "\nint main(int argc, char**)\n{\n"
                + "float h[32] = {4}, *d = h;\n(void)d;\n" + prepared + "\non_device(h);\nprintf(\"%g\\n\", h[0]);\n"
                + f"if (argc > 1) {{\n{call};\nputs(\"behind\"); }}\n}}\n")
        done = tried(tmp_path, {"main.cu": main}, "SIM=--quiet", "ARGS=call")
        (found,) = findings(done)
        line = main[:main.index(f"{call};\nputs")].count("\n") + 1
        function = re.search(r"\w+(?=\()", call.replace("CHECK(", ""))[0]
        assert found.startswith(f"not simulated: {function} at {tmp_path}/main.cu:{line}: {words}"), done.stdout
        assert "behind" not in done.stdout and "8\n" in done.stdout
        assert "try: 1 kernel, 1 launch, 1 finding\n" in done.stdout
        done = again(tried_of(tmp_path) / "main", "--quiet")
        assert done.returncode == 0 and done.stdout.endswith("try: 1 kernel, 1 launch, 0 findings\n"), done.stdout


@pytest.mark.variety
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


# Texts that nvcc accepts and a compiler of C++ does not. Each defines total(), which gives 36.
ACCEPTED = {
    "no space before __global__": 'extern "C"__global__ void three(int* x) { x[threadIdx.x] = 3; }\n'
                                  'int total() { return 33 + ran(three); }',
    "backslash before a comment": "int total()\n{\n    return 30 + \\ // five\n           5 + \\ /* and one */\n"
                                  "           1;\n}",
    "backslash between specifiers": "__global__ \\ // a kernel\nvoid three(int* x) \\ // of one array\n"
                                    "{ x[threadIdx.x] = 3; }\nint total() { return 33 + ran(three); }",
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


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    assert own_output(tried(folder, {"grid.cu": GRID}, "SIM=--blocks 1")) == "0"
    return tried_of(folder) / "grid"


def test_a_sample_of_the_blocks(grid, tmp_path):
    """The first, the last, and others evenly between. The report and the CSV file say which counts are of a sample."""
    for blocks, ran in ((1, [0]), (4, [0, 33, 66, 99]), (51, [n * 99 // 50 for n in range(51)]), (100, range(100))):
        done = again(grid, f"--blocks {blocks} --csv {tmp_path}/counts.csv")
        assert own_output(done).split() == [str(i) for i in ran], done.stdout
        assert "A sample: no more than " in done.stdout and "the program's results are not right" in done.stdout
        label = f", of a sample: {2 * blocks} of 200 blocks\n" if blocks < 100 else "\n"
        assert f"\nmark<<<(20, 5), 32>>> x 2{label}" in done.stdout, done.stdout
        with open(tmp_path / "counts.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert ({(row["kernel"], row["launches"], row["blocks_run"]) for row in rows}
                == {("mark", "2", str(2 * blocks)), ("next", "1", str(min(blocks, 3)))})
        assert {row["requests"] for row in rows if row["kernel"] == "mark"} == {str(2 * blocks)}
    done = again(grid, "--quiet")
    assert "warning: never written: cudaMemcpy" in done.stdout and "A sample" not in done.stdout


# An index of shared memory, and the access if it wraps at 32 bits.
WRAPS = {
    "not": ("int* b = s + 63; unsigned i = threadIdx.x; out[threadIdx.x] = b[~i];",
            "load of 4 bytes at byte 17179869432 of shared memory \\(s\\)"),
    "store": ("int* b = s + 63; unsigned i = threadIdx.x; b[~i] = 1;",
              "store of 4 bytes at byte 17179869432 of shared memory \\(s\\)"),
    "dynamic": ("extern __shared__ int t[]; t[threadIdx.x] = 1; int* b = t + 32; unsigned i = threadIdx.x; out[i] = "
                "b[~i];",
                "load of 4 bytes at byte 17179869308 of dynamic shared memory"),
    "signed": ("int* b = s + 63; int i = threadIdx.x; out[threadIdx.x] = b[~i];", ""),
}


def test_an_index_of_shared_memory_that_wraps(tmp_path):
    """It reaches the array on a GPU, where an address of shared memory has 32 bits. The finding names that array, and
    no other memory. The number of the program's arguments chooses a kernel."""
    kernels = "".join(f"""
__global__ void k{i}(int* out) {{ __shared__ int s[64]; s[threadIdx.x] = s[threadIdx.x + 32] = 1; __syncthreads();
    {text}
}}""" for i, (text, _) in enumerate(WRAPS.values()))
    listed = ", ".join(f"k{i}" for i in range(len(WRAPS)))
    tried(tmp_path, {"wraps.cu": f"""{kernels}
void (*const kernels[])(int*) = {{{listed}}};
int main(int count, char**) {{ int* d; cudaMalloc(&d, 128); kernels[count - 1]<<<1, 32, 128>>>(d);
    cudaDeviceSynchronize(); cudaFree(d); }}
"""}, "SIM=--quiet")
    for number, (_, words) in enumerate(WRAPS.values()):
        done = again(tried_of(tmp_path) / "wraps", "--quiet", *["x"] * number)
        assert "1 launch," in done.stdout, done.stdout + done.stderr
        found = findings(done)
        assert len(found) == bool(words) and all(re.match(
            f"k{number}: out-of-bounds {words}.*: thread \\(0, 0, 0\\) at .*/wraps.cu:{3 * number + 3}, .*; an address "
            "of shared memory has 32 bits on a GPU, so this index wraps and reaches the array; compute it with signed "
            "numbers", line) for line in found), found
