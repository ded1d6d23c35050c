"""Code that nvcc refuses is refused by the simulator at its line, and what nvcc accepts is not. Where nvcc is
installed, it is asked, too. Many rows share a text, and each test names all that fail."""

import os
import re
import shutil
import subprocess

import pytest

from lessons import ROOT, run
from samples import some

NVCC = shutil.which("nvcc")
HEADERS = "".join(f"#include <{name}>\n" for name in (
    "algorithm", "cmath", "cstdio", "cstdlib", "cstring", "functional", "iostream", "limits", "numeric", "string",
    "utility", "vector"))

OF_HOST, OF_DEVICE = "of the host; nvcc refuses", "of the device; the host cannot call it"
# The faulty line ends with `// here`. Names alone tell.
BY_NAMES = {
    # a function of the host in device code
    "own": ("int twice(int i) { return 2 * i; }\n__global__ void k(int* o) { o[0] = twice(3); } // here", OF_HOST),
    "a template": ("template <class T> T twice(T i) { return 2 * i; }\n__global__ void k(int* o) {\n"
                   "o[0] = twice<int>(3); } // here", OF_HOST),
    "in a lambda of a kernel": ("int twice(int i) { return 2 * i; }\n__global__ void k(int* o) {\n"
                                "auto f = [](int i) { return twice(i); }; // here\no[0] = f(1); }", OF_HOST),
    "rand": ("__global__ void k(int* o) { o[0] = rand(); } // here", OF_HOST),
    "fprintf": ("__global__ void k() {\nfprintf(stderr, \"x\"); } // here", OF_HOST),
    "std::sort": ("__global__ void k(int* o) { std::sort(o, o + 1); } // here", OF_HOST),
    "std::cout": ("__global__ void k(int* o) { std::cout << o[0]; } // here", OF_HOST),
    # a device function on the host
    "device": ("__device__ int thrice(int i) { return 3 * i; }\nint h() { return thrice(2); } // here", OF_DEVICE),
    "device, in a lambda of the host": ("__device__ int thrice(int i) { return 3 * i; }\n"
                                        "int h() { auto f = [] { return thrice(2); }; return f(); } // here",
                                        OF_DEVICE),
    "__syncthreads": ("void h() { __syncthreads(); } // here", OF_DEVICE),
    "atomicAdd": ("int n;\nvoid h() { atomicAdd(&n, 1); } // here", OF_DEVICE),
    # a kernel without <<<>>>
    "kernel": ("__global__ void k(int x) {}\nint main() { k(3); } // here", "write k<<<grid, block>>>(arguments)"),
    "kernel, by a kernel": ("__global__ void a(int* x) { *x = 1; }\n__global__ void k(int* x) { a(x); } // here",
                            "without <<<>>>"),
    # stores to __constant__
    "constant": ("__constant__ int c;\n__global__ void k() { c = 1; } // here", "cudaMemcpyToSymbol"),
    "constant array": ("__constant__ int c[4];\n__global__ void k() { c[threadIdx.x] = 1; } // here", "__constant__"),
    "constant on the host": ("__constant__ int c;\nint main() { c = 1; } // here", "__constant__"),
    # exceptions
    "throw": ("__global__ void k(int n) { if (n) throw n; } // here", "exceptions"),
    "try": ("__device__ void f(int* n) {\ntry { *n = 1; } // here\ncatch (...) {} }", "exceptions"),
}
# The compiler finds them.
BY_COMPILER = {
    "shared": ("__global__ void k(int* o) {\n__shared__ int t[13000]; // here\nt[threadIdx.x] = 1; "
               "__syncthreads(); o[0] = t[1]; }", "nvcc allows 49152 bytes of __shared__ arrays; use dynamic"),
    "shared, a matrix": ("__global__ void k(double* o) {\n__shared__ double a, t[100][64]; // here\na = 1; "
                         "t[threadIdx.x][1] = 1; __syncthreads(); o[0] = a + t[1][1]; }", "49152"),
    "parameters": ("struct B { char b[40000]; };\n__global__ void k(B b, int* o) { *o = b.b[1]; }\n"
                   "void h() { k<<<1, 1>>>(B(), nullptr); } // here", "nvcc allows 32764 bytes of parameters"),
    "variable length": ("__global__ void k(int* o, int n) {\nint a[n]; // here\na[0] = 1; o[0] = a[n - 1]; }",
                        "a local array whose length is no constant"),
    "variable length, for both": ("__host__ __device__ int f(const int n) {\nint a[n]; // here\na[0] = 1; "
                                  "return a[n - 1]; }", "whose length is no constant"),
    "launch, another pointer": ("__global__ void k(float* x) { *x = 1; }\n"
                                "void h(double* d) { k<<<1, 1>>>(d); } // here",
                                "the arguments of the launch do not fit the parameters of the kernel"),
    "launch, too few": ("__global__ void k(float* x, int n) { *x = n; }\nvoid h(float* d) { k<<<1, 1>>>(d); } // here",
                        " fit"),
    "launch, T deduced twice": ("template <class T> __global__ void k(T* x, T y) { *x = y; }\nvoid h(float* d) {\n"
                                "k<<<1, 1>>>(d, 3.0); } // here", " fit"),
    "launch, overloads": ("__global__ void k(float* x) { *x = 1; }\n__global__ void k(int* x, int y) { *x = y; }\n"
                          "void h(double* d) { k<<<1, 1>>>(d); } // here", " fit"),
}
# clang is asked, because names do not tell.
BY_CLANG = {
    "member": ("struct S { int v; int get() const { return v; } };\n__global__ void k(S s, int* o) {\n"
               "o[0] = s.get(); } // here", OF_HOST),
    "constructor": ("struct S { int v; S(int x) : v(x) {} };\n__global__ void k(int* o) {\n"
                    "S s(1); // here\no[0] = s.v; }", OF_HOST),
    "operator": ("struct S { int v; };\nS operator+(S a, S b) { return S{a.v + b.v}; }\n"
                 "__global__ void k(S s, int* o) {\no[0] = (s + s).v; } // here", OF_HOST),
    "call operator": ("struct F { int operator()(int i) const { return i; } };\n"
                      "template <class T> __global__ void k(int* o, T f) {\no[0] = f(1); } // here\n"
                      "void h(int* o) { k<<<1, 1>>>(o, F()); }", OF_HOST),
    "overload": ("int f(double) { return 1; }\n__device__ int f(int*) { return 2; }\nstruct S { void m() {} };\n"
                 "__global__ void k(int* o) { o[0] = f(2.0); } // here", OF_HOST),
    "member of the device": ("struct S { int v; __device__ int get() const { return v; } };\nint h(S s) {\n"
                             "return s.get(); } // here", OF_DEVICE),
}
# Each is a part of one program, in a namespace of its own. It goes on in lines that begin with a space.
RIGHT = """
__host__ __device__ int both(int i) { return 2 * i; } __global__ void k(int* o) { *o = both(1); }
    int h() { return both(2); }
constexpr int twice(int i) { return 2 * i; } __global__ void k(int* o) { *o = twice(1); o[1] = std::max(o[1], 2); }
__device__ int f(int i) { return i; } int f(double d) { return int(d); } __global__ void k(int* o) { *o = f(1); }
    int h() { return f(2.0); }
int value(int i) { return i; } __global__ void k(int* o) { int value = 3; *o = value + 1; } int h() { return value(1); }
__device__ int rand(int* s) { return *s = *s * 3 + 1; } __global__ void k(int* o) { *o = rand(o); }
__global__ void k(float* o) { *o = std::sqrt(o[1]) + std::abs(o[2]) + std::pow(o[1], 2.f) + sinf(o[1]);
    o[1] = fabs(o[2]) + floor(o[3]); }
__global__ void k(int* o) { printf("x"); void* p = malloc(8); memset(p, 0, 8); memcpy(p, o, 4); free(p);
    *o = int(clock()); }
struct S { int v; __host__ __device__ S(int x) : v(x) {} __host__ __device__ int get() const { return v; }
    int host() { return v; } }; __global__ void k(int* o) { S s(1); *o = s.get(); } int h() { S s(2);
    return s.get() + s.host(); }
__device__ int dev(int i) { return i; } template <int (*F)(int)> __global__ void k(int* o) { *o = F(1); }
    void h(int* o) { k<dev><<<1, 1>>>(o); }
__global__ void k(int* o) { *o = 1; } void h(int* o) { k<<<1, 1>>>(o); void (*p)(int*) = k; p<<<1, 1>>>(o);
    cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1); }
__constant__ int c[4]; __global__ void k(int* o) { o[0] = c[1] == 2 ? c[2] : c[3] + 1; o[c[0]] = 2; }
    void h() { int v[4] = {}; cudaMemcpyToSymbol(c, v, sizeof v); }
__constant__ int c; __global__ void k(int* o) { int c = 1; c = 2; *o = c; } void h(int c) { c = 3; }
__global__ void k(int* o) { __shared__ int t[12288]; t[threadIdx.x] = 1; __syncthreads(); o[0] = t[1]; }
struct B { char b[32000]; }; __global__ void k(B b, int* o) { *o = b.b[1]; } void h(B b) { k<<<1, 1>>>(b, nullptr); }
__global__ void k(int* o) { const int n = 3; int a[n], b[n + 1] = {}; float c[2][n]; a[1] = b[1]; c[1][2] = 1;
    *o = a[1] + int(c[1][2]); int* p = new int[*o]; delete[] p; }
__global__ void of_three(float x, int* p, const int* q) {} void h(int* d) { of_three<<<1, 1>>>(3, 0, d);
    of_three<<<1, 1>>>(3.5, NULL, nullptr); of_three<<<1, 1>>>('c', d, d); }
template <class T> __global__ void k(T* x, T y, int n = 3) {} void h(float* d) { k<<<1, 1>>>(d, 2.f);
    k<float><<<1, 1>>>(d, 2); k<<<1, 1>>>(d, 2.f, 5); }
struct S { S(int) {} S(const S&) {} ~S() {} }; void h() { std::vector<int> v(3); std::sort(v.begin(), v.end());
    std::cout << rand(); S s(3); }
"""


@pytest.fixture
def built(tmp_path):
    """Compiles a text as simcuda does."""
    def build(text, **environment):
        (tmp_path / "a.cu").write_text(text)
        return run(ROOT / "sim/simcuda", "-c", tmp_path / "a.cu", "-o", tmp_path / "a.o",
                   env={**os.environ, **environment})
    return build


def numbered(table):
    """(name, text) of the rows. The names of a row have its number, so that rows can share a program."""
    for number, (name, (text, _)) in enumerate(table.items()):
        yield name, re.sub(r"\b([khSBF])\b", rf"\g<1>{number}", text)


def missed(table, built, folder):
    """Rows of which no message names the line, in one program of all of them."""
    program, lines = HEADERS, {}
    for name, text in numbered(table):
        program += f"namespace n{len(lines)} {{\n{text}\n}}\n"
        lines[name] = program[:program.index("// here")].count("\n") + 1
        program = program.replace("// here", "//")
    done = built(program)
    assert done.returncode == 2
    said = done.stderr.splitlines()
    return [name for name, line in lines.items()
            if not any(s.startswith(f"{folder}/a.cu:{line}:") and table[name][1] in s for s in said)]


def test_what_the_compiler_refuses(built, tmp_path):
    launches = {name: row for name, row in BY_COMPILER.items() if name.startswith(("launch", "parameters"))}
    assert missed(launches, built, tmp_path) == []
    assert missed({name: row for name, row in BY_COMPILER.items() if name not in launches}, built, tmp_path) == []


@pytest.mark.skipif(not shutil.which("clang++"), reason="needs clang++")
def test_clang_tells_members_apart(built, tmp_path):
    assert missed(BY_CLANG, built, tmp_path) == []


def test_what_the_rewriter_refuses(built, tmp_path):
    """One line, of which the first row is tried with the whole command."""
    text, words = BY_NAMES["own"]
    done = built(HEADERS + text)
    assert done.returncode == 2 and done.stderr.startswith(f"{tmp_path}/a.cu:{HEADERS.count(chr(10)) + 2}:")
    (tmp_path / "headers.cu").write_text(HEADERS)
    command = re.search(r"kernel_preprocessor=\((.*?)\);", (ROOT / "build/commands/simcuda").read_text())[1]
    headers = run("sh", "-c", f"home={ROOT}; {command} -E {tmp_path}/headers.cu").stdout
    wrong = {}
    for name, (text, words) in some(BY_NAMES.items(), 3):
        done = subprocess.run(
            [ROOT / "build/rewrite", "--own", ROOT / "sim/cuda", "--plain-host"], capture_output=True, text=True,
            input=f'{headers}# 1 "a.cu"\n{text.replace("// here", "//")}\n')
        line = text[:text.index("// here")].count("\n") + 1
        if not (done.returncode == 2 and done.stderr.startswith(f"a.cu:{line}:") and words in done.stderr
                and done.stderr.count("\n") == 1):
            wrong[name] = done.stderr
    assert not wrong


def right_program():
    programs = re.split(r"\n(?! )", RIGHT.strip())
    return HEADERS + "".join(f"namespace n{i} {{\n{line}\n}}\n" for i, line in enumerate(programs))


def test_what_nvcc_accepts_is_not_refused(built):
    done = built(right_program())
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_without_clang_the_program_is_told(built, tmp_path):
    """It prints a note (program.cpp)."""
    no_clang = {"BASH_FUNC_command%%": "() { [[ ${FUNCNAME[1]} != ask_clang ]]; }"}  # a function, for the script
    done = built(HEADERS + BY_CLANG["member"][0], **no_clang)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "sim_sides_by_names" in run("nm", tmp_path / "a.o").stdout


@pytest.mark.variety
@pytest.mark.skipif(not NVCC, reason="needs nvcc")
def test_nvcc_agrees(tmp_path):
    def compiles(text):
        (tmp_path / "a.cu").write_text(text)
        return run(NVCC, "-std=c++17", "-arch=sm_90", "--expt-relaxed-constexpr", "-w", "-c", tmp_path / "a.cu", "-o",
                   tmp_path / "a.o").returncode == 0

    assert compiles(right_program())
    # nvcc only warns of some stores to constant memory. The card ends the kernel.
    accepted = [name for name, (text, _) in {**BY_NAMES, **BY_COMPILER, **BY_CLANG}.items() if compiles(HEADERS + text)]
    assert [name for name in accepted if not name.startswith("constant")] == []


SIDES = """#include <cstdio>
__host__ __device__ int side()
{
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2;
#endif
}
struct S {
    __host__ __device__ int get(int i) const {
#if __CUDA_ARCH__ >= 700
        for (int k = 0; k < 3; ++k) i += k;
#endif
        return i;
    }
};
#if __CUDA_ARCH__ < 600
__device__ int older();
#endif
template <class T> __host__ __device__ T of_template(T x)
{
#if defined(__CUDA_ARCH__)
    return x + 1;
#endif
    return x;
}
#ifdef __CUDA_ARCH__
#define SIDE 1
#else
#define SIDE 2
#endif
inline __host__ __device__ int by_macro() { return SIDE; }
__device__ int of_device() { return SIDE; }
int of_host() { return SIDE; }
__global__ void k(int* o)
{
    o[0] = side(); o[1] = S().get(0); o[2] = of_template(0); o[3] = by_macro(); o[4] = of_device(); o[5] = 7;
}
int main()
{
    int *d, h[6];
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    for (int i : h) printf("%d ", i);
    printf("%d %d %d %d %d ", side(), S().get(0), of_template(0), by_macro(), of_host());
#ifndef __CUDA_ARCH__
    printf("host ");
#endif
    printf(SIDE == 2 ? "2\\n" : "1\\n");
}
"""


def test_cuda_arch_is_defined_in_device_code_alone(tmp_path):
    (tmp_path / "sides.cu").write_text(SIDES)
    done = run(ROOT / "sim/simcuda", "--quiet", tmp_path / "sides.cu")
    assert done.stdout.startswith("1 3 1 1 1 7 2 0 0 2 2 host 2\n"), done.stdout + done.stderr
    assert "1 launch, 0 findings" in done.stdout


SHARED = """
__device__ int half(int i) { __shared__ int h[6144]; h[threadIdx.x] = i; __syncthreads(); return h[0]; }
__global__ void two(int* o) { __shared__ int a[6144];
__shared__ int b[6145];
    a[threadIdx.x] = b[threadIdx.x] = 1; __syncthreads(); o[threadIdx.x] = a[0] + b[0]; }
template <class T> __global__ void deduced(T* o) { __shared__ T a[10000]; __shared__ T b[70000 / sizeof(T) - 10000];
    a[threadIdx.x] = b[threadIdx.x] = 1; __syncthreads(); o[threadIdx.x] = a[0] + b[0]; }
__global__ void fits(int* o) { __shared__ int a[6144]; a[threadIdx.x] = 1; __syncthreads();
    o[threadIdx.x] = a[0] + half(1); }
int main()
{
    int* d;
    cudaMalloc(&d, 128);
    fits<<<1, 32>>>(d);
    cudaDeviceSynchronize();
    KERNEL<<<1, 32>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
"""


@pytest.mark.parametrize("kernel, count", [("two", 49156), ("deduced", 70000)])
def test_several_shared_arrays_that_are_too_large_together(kernel, count, tmp_path):
    (tmp_path / "shared.cu").write_text(SHARED)
    done = run(ROOT / "sim/simcuda", "--quiet", f"-DKERNEL={kernel}", tmp_path / "shared.cu")
    assert (f"error: {kernel}: the kernel's __shared__ arrays take {count} bytes, and nvcc allows 49152; use dynamic "
            "shared memory and cudaFuncSetAttribute: thread (0, 0, 0) at ") in done.stdout, done.stdout + done.stderr
    assert "try: 2 kernels, 2 launches, 1 finding\n" in done.stdout
