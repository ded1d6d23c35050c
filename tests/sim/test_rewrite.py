"""The rewriter of CUDA C++ for the simulator: it changes what it must and nothing else, and refuses the rest at its
line. tests/sim/language/syntax.cu runs what it writes."""

import re
import shutil
import subprocess

import pytest

from lessons import ROOT, make_try, run

PROGRAM = ROOT / "build/rewrite"


def rewritten(text, *options):
    return subprocess.run([PROGRAM, *options], input=text, capture_output=True, text=True, timeout=60)


SAME = [
    "void h() { a << b; a >> b; std::cout << k<1> << 3; x.operator<< <int>(3); }",
    "auto s = R\"x(__global__ <<< \" )x\", t = \"__device__ k<<<1, 2>>>(3)\"; char c = '\"', n = '\\''; "
    "int i = 1'000'000;",
    "/* __global__ */ // k<<<1, 2>>>(3)",
    '# 1 "/usr/include/x.h" 1 3 4\n__device__ void f() { for (;;) {} }\n# 2 "a.cu" 2\nint f();',
    "__attribute__((__noinline__)) int f() { while (a) {} free(malloc(1)); delete new T; return 1; }",
    'void f() { asm(""); wmma::x(); tex2D(1); cudaTextureObject_t t; this_grid(); texture<int> u; } struct texture;',
]
WORD = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*')
REMOVED = {"__global__", "__device__", "__host__", "__shared__", "__constant__", "__managed__", "__forceinline__",
           "extern"}


def test_only_what_must_change_is_changed():
    """A text without CUDA stays as it is. Of programs, each line keeps its words, but for those of CUDA."""
    assert [text for text in SAME if rewritten(text).stdout != text] == []
    for name in ("syntax", "memory", "types"):
        text = re.sub(r"#.*|//.*", "", (ROOT / f"tests/sim/language/{name}.cu").read_text())
        done = rewritten(text)
        assert done.returncode == 0 and done.stdout.count("\n") == text.count("\n"), done.stderr
        assert [(before, after) for before, after in zip(text.splitlines(), done.stdout.splitlines())
                if "<<<" not in before and not {*WORD.findall(before)} - REMOVED <= {*WORD.findall(after)}] == []


REFUSED = {
    "shared = ": ("__shared__ int x\n= 1;", 2, "__shared__", "initializer"),
    "dynamic size": ("extern __shared__ int x[3];", 1, "float name[]"),
    "graph": ("void f() {\ncudaGraphNode_t n; }", 2, "CUDA graphs (cudaGraphNode_t)"),
    "driver": ("void f() { cuModuleLoad(&m, name); }", 1, "functions of the driver (cuModuleLoad)"),
    "texture reference": ("texture<float, 2> t;", 1, "textures"),
    "texture object": ("__global__ void k(\ncudaTextureObject_t t) {}", 2, "textures"),
    "PTX": ("__device__ int f() {\n\nasm volatile(\"\"); }", 3, "inline PTX"),
    "an exception": ("__device__ int f() {\nthrow 3; }", 2, "nvcc refuses exceptions"),
    "typeid": ("__global__ void k() { f(typeid(int)); }", 1, "nvcc refuses typeid"),
    "tensor cores": ("using namespace nvcuda;", 1, "tensor cores"),
    "cluster": ("__global__ void k() { auto g = cooperative_groups::this_cluster(); }", 1, "clusters"),
    "dynamic parallelism": ("__global__ void k() {\nk<<<1, 2>>>(); }", 2, "dynamic parallelism"),
    "no kernel": ("void f() { <<<1, 2>>>(); }", 1, "kernel<<<grid, block>>>(arguments)"),
    "no end": ("void f() { k<<<1, 2>>(); }", 1, "no >>>"),
    "no configuration": ("void f() { k<<<>>>(); }", 1, "grid"),
    "no block": ("__global__ void k(int* x) { *x = 1; }\nvoid f() { k<<<1>>>(p); }", 2,
                 "a launch needs a grid and a block, the number of blocks and that of a block's threads; write "
                 "k<<<blocks, threads>>>(...)"),
    "bracket": ("void f() {\n(", 2, "never closed"),
    "no bracket": ("}", 1, "never opened"),
    "literal": ("\nchar c = 'x;", 2, "never closed"),
    "comment": ("/* x", 1, "never closed"),
    "launch of a function": ("void k(int* x) { *x = 1; }\nvoid f() { k<<<1, 2>>>(p); }", 2,
                             "a launch of k, which is no kernel; write __global__ void k(...)"),
    "a kernel's result": ("\n__global__ int k(int* x) { return *x; }", 2, "a kernel returns nothing; write __global__"),
    "global variable": ("__global__ int x;", 1, "not a function"),
}


def test_what_is_refused():
    wrong = {}
    for name, (text, line, *words) in REFUSED.items():
        done = rewritten(f'# 1 "/usr/include/x.h" 1 3 4\nint x;\n# 11 "some dir/a.cu" 2\n{text}\n')
        if not (done.returncode == 2 and done.stdout == "" and done.stderr.startswith(f"some dir/a.cu:{line + 10}: ")
                and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words)):
            wrong[name] = done.stderr
    assert not wrong


def test_a_name_that_a_kernel_and_a_function_share():
    """A parameter or a variable hides the function. With `using namespace std`, a name may be a function of std."""
    for caller in ("void f(void (*k)(int*)) { k<<<1, 2>>>(p); }", "void f() { auto k = g; k<<<1, 2>>>(p); }"):
        done = rewritten(f"__global__ void g(int* x) {{ *x = 1; }} void k(int* x) {{ *x = 1; }} {caller}")
        assert done.returncode == 0 and '"k", k)(p)' in done.stdout, done.stderr
    library = '# 1 "/usr/include/x.h" 1 3 4\nnamespace std __attribute__((x)) { template <class T> T copy(T); }\n'
    kernel = '# 1 "a.cu" 2\n__global__ void copy(int* x) { *x = 1; } void f() { copy<<<1, 2>>>(p); }'
    for text, by_a_call in ((f"{library}{kernel} using namespace std;", True), (library + kernel, False)):
        assert ("sim_arguments" in rewritten(text).stdout) == by_a_call


def test_namespace():
    """What is included stays outside, so that two halves of one file can be linked."""
    text = ('# 1 "a.cu"\n# 1 "b.h" 1\nint b;\n# 2 "a.cu" 2\nint a;\nvoid f() {\n# 1 "c.h" 1\nc();\n# 5 "a.cu" '
            '2\n}\n# 1 "d.h" 1\nint d;\n# 9 "a.cu" 2\n')
    assert rewritten(text, "--namespace", "half").stdout == text.replace(
        "int a;", "inline namespace half { int a;").replace("2\n}\n", "2\n} }\n")


@pytest.mark.variety
def test_fast():
    """20,000 lines of kernels take seconds. Were the time to grow with the square of the text, they would take
    minutes."""
    kernel = """template <typename T> __global__ void k%d(T* a, int n)
{
    __shared__ T tile[32][33];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (i %% 3)
            do { tile[0][i] = a[i] + sizeof(T) * (i << 2); } while (i < n);
    }
}
void h%d(int* a) { k%d<int><<<dim3(3, 4), 5>>>(a, 6); }
"""
    text = "".join(kernel % (i, i, i) for i in range(2000))
    assert rewritten(text).returncode == 0
    assert rewritten(text, "--plain-host").returncode == 0


# What the preprocessor says of a missing header, and what is printed. None: the same.
MISSING = [
    ("a b.cu:3:10: fatal error: thrust/sort.h: No such file or directory\n",
     "a b.cu:3: thrust/sort.h: Thrust is not supported by the simulator; use cudaMalloc, cudaMemcpy and a kernel"),
    ("In file included from a.cu:1:\nb.h:7:10: schwerwiegender Fehler: mma.h: Datei oder Verzeichnis nicht gefunden\n",
     "b.h:7: mma.h: tensor cores (nvcuda::wmma) are not supported by the simulator; write the product as a loop"),
    ("a.cu:3:10: fatal error: cublas_tools.h: No such file or directory\n", None),
]


def test_headers_that_are_missing(tmp_path):
    for errors, expected in MISSING:
        (tmp_path / "errors").write_text(errors)
        done = run(PROGRAM, "--missing", tmp_path / "errors")
        assert (done.returncode, done.stderr) == (2, expected + "\n" if expected else errors)


def test_headers_of_an_installed_toolkit(tmp_path):
    """Those of a library are replaced by empty ones, wherever they lie, and those of the language are refused by name.
    A header of the program's own is neither, whatever it is called."""
    toolkit = tmp_path / "toolkit"
    (toolkit / "thrust/detail").mkdir(parents=True)
    (toolkit / "vector_types.h").write_text("struct char1 { char x; };\n")
    (toolkit / "cuda_runtime.h").write_text('#include "vector_types.h"\n')
    (toolkit / "cuda_fp8.h").write_text('#pragma once\n#include "vector_types.h"\n')
    (toolkit / "cuda_new.h").write_text('#pragma once\n\n#include "vector_types.h"\n')
    (toolkit / "thrust/sort.h").write_text('#include "detail/sort.inl"\n')
    (toolkit / "thrust/detail/sort.inl").write_text("int thrust_sort;\n")
    (toolkit / "cublas_v2.h").write_text("int cublas;\n")
    (tmp_path / "cublas_tools.h").write_text("int tools;\n")
    (tmp_path / "thrust").mkdir()
    (tmp_path / "thrust/rocket.h").write_text("int rocket;\n")
    program = tmp_path / "a.cu"

    def tried(header, option):
        program.write_text(f"#include <cstdio>\n\n{header}\nint main() {{}}\n")
        return make_try(program, f"CPPFLAGS={option} {toolkit}", "SIM=--quiet")

    done = tried("#include <cuda_new.h>", "-isystem")
    assert done.returncode == 2 and done.stderr.splitlines()[0] == (
        f"{program}:3: cuda_new.h: this header of the CUDA Toolkit is not supported by the "
        "simulator"), done.stderr
    for header in ("<cuda_fp8.h>", "<thrust/sort.h>", "<cublas_v2.h>"):
        done = tried(f"#include {header}", "-isystem")
        assert done.returncode == 0, done.stderr
    # With -I, its folder comes before that of the empty headers.
    (toolkit / "cuda_runtime.h").unlink()
    done = tried("#include <cublas_v2.h>", "-I")
    assert done.returncode == 2 and done.stderr.splitlines()[0] == (
        f"{program}:3: cublas_v2.h: cuBLAS is not supported by the simulator; write the product "
        "as a kernel"), done.stderr
    (toolkit / "cuda_runtime.h").write_text('#include "vector_types.h"\n')
    for header in ('"cublas_tools.h"', '"thrust/rocket.h"'):
        done = tried(f"#include {header}", "-isystem")
        assert done.returncode == 0, done.stderr
    done = tried("", "-I")
    assert done.returncode == 2 and (f"{toolkit}/cuda_runtime.h of a CUDA Toolkit is found before the simulator's own "
                                     "header; remove the option -I of its folder") in done.stderr


# Each reads or writes through a pointer where only the host can come.
OF_THE_HOST = {
    "function": "void f(int* p) { *p = 1; }",
    "template": "template <typename T, int N> T f(T* p) { return p[N]; } template int f<int, 3>(int*);",
    "extern C": "extern \"C\" int f(int* p) { return *p; } extern \"C\" { static int g(int* p) { return *p; "
                "} int h(int* p) { return g(p); } }",
    "namespaces": "namespace a { namespace { int f(int* p) { return *p; } } inline namespace b { int g(int* p) { "
                  "return f(p); } } } namespace a::d { int h(int* p) { return *p; } }",
    "attributes": "[[nodiscard]] int f(int* p) { return *p; } __attribute__((noinline)) static int g(int* p) { return "
                  "*p; } int h(int* p) { return g(p); } [[gnu::cold]] [[nodiscard]] static inline const int& i(int* p) "
                  "{ *p = 1; return *p; } const int& (*use)(int*) = i;",
    "members": "struct S { int i; explicit S(int* p) : i(*p) {} S(const S& s) : i{s.i} {} ~S() { i = 0; } int get() "
               "const noexcept { return i; } virtual int v() { return i; } static int st(int* p) { return *p; "
               "} int operator()(int* p) const { return *p + i; } operator int() const { return i; "
               "} S& operator=(const S& s) { i = s.i; return *this; } friend int f(S& s) { return s.i; "
               "} int operator[](int n) & { return i + n; } private: int hidden() { return i; } public: auto call() { "
               "return hidden(); } }; int all(S* s, int* p) { S a(p), b(a); b = a; return (*s)(p) + int(b) + s->get() "
               "+ s->v() + S::st(p) + f(*s) + a[1] + s->call(); }",
    "lambdas": "int f(int* p) { int n = *p; auto a = [&] { return p[n]; }; auto b = [=](int i) -> int { return p[i] + "
               "n; }; auto c = [p](auto i) { return p[i]; }; auto d = [](int* q) { return *q; }; auto e = [p]() -> int "
               "{ return *p; }; return a() + b(1) + c(2) + d(p) + e() + [&](int i) { return [&] { return p[i]; }(); "
               "}(3); } auto outside = [](int* p) { return *p; }; int g(int* p) { return outside(p); }",
}

# So do these, though device code has the names.
NAMED_ALIKE = {
    "names that device code has, too": "struct S { int size; }; __device__ int sum(S s) { int total = 3; return total; "
                                       "} int total(int* p) { return *p; } int size(int* p) { return *p; "
                                       "} int sum(int* p) { return *p; }",
}

# Functions that device code may call keep their calls.
WATCHED = {
    "kernel": "__global__ void k(int* p) { *p = 1; }",
    "device": "__device__ int f(int* p) { return *p; }",
    "host and device": "__host__ __device__ int f(int* p) { return *p; } template <typename T> __device__ __host__ T "
                       "g(T* p) { return *p; } template int g(int*);",
    "members": "struct S { int i; __device__ int get() const { return i; } }; __device__ int k(S* s) { return "
               "s->get(); }",
    "lambda of the device": "template <typename F> void each(F f) { f(out); } void f(int n) { "
                            "each([=] __device__ (int* p) { *p = n; }); }",
    "lambda in a kernel": "__global__ void k(int n) { int* p = out; auto f = [p](int i) { return p[i]; }; out[0] = "
                          "f(n); }",
    "called by device code": "int f(int* p) { return *p; } __host__ __device__ void h(int* p) { f(p); }",
    "class of an argument": "struct S { void operator()(int* p) const { *p = 1; } }; template <typename F> __global__ "
                            "void k(F f) { f(out); } void h() { S s; k<<<1, 1>>>(s); }",
    "only declared for the device": "__device__ int f(const int* p); int f(const int* p) { return *p; }",
}
STUB = """extern int out[];
namespace sim { template <typename T> constexpr bool indexable = false; void local_begins(...);
struct Call { ~Call() {} }; struct Configuration { Configuration(int, int) {} };
template <typename K> auto launch(const Configuration&, const char*, K k) { \
return [k](auto... a) __attribute__((no_sanitize("thread"))) { k(a...); }; } }
"""


def watched_rows(table, tmp_path, compiler, *options):
    """The rows of which a function's accesses are watched: its code calls the compiler's library in front of them. All
    rows are one text, their names with the number of the row."""
    text = STUB
    for number, row in enumerate(table.values()):
        names = r"\b([fghikSVFT]|each|use|run|get|sum|total|size|outside|Less)\b"
        text += re.sub(names, rf"\1_row{number}_", row) + "\n"
    done = rewritten(text, *options)
    assert done.returncode == 0, done.stderr
    (tmp_path / "a.ii").write_text(done.stdout)
    quiet = (["-mllvm", "-tsan-instrument-func-entry-exit=0"] if "clang" in compiler
             else ["--param", "tsan-instrument-func-entry-exit=0"])
    done = run(compiler, "-std=c++20", "-w", "-O1", "-fno-inline", "-fsanitize=thread,bounds", *quiet, "-c",
               tmp_path / "a.ii", "-o", tmp_path / "a.o")
    assert done.returncode == 0, done.stderr
    code = run("objdump", "-dr", "--no-show-raw-insn", tmp_path / "a.o").stdout
    functions = re.split(r"^[0-9a-f]+ <(.*)>:$", code, flags=re.M)[1:]
    found = {int(number) for name, body in zip(functions[::2], functions[1::2])
             if re.search(r"__tsan_\w*(read|write)|__ubsan_", body) for number in re.findall(r"_row(\d+)_", name)[:1]}
    return [name for number, name in enumerate(table) if number in found]


@pytest.mark.parametrize("compiler", ["g++", pytest.param("clang++", marks=pytest.mark.variety)])
def test_what_only_the_host_can_call_is_not_watched(compiler, tmp_path):
    if not shutil.which(compiler): pytest.skip(f"no {compiler}")
    for table in (OF_THE_HOST, NAMED_ALIKE):
        assert watched_rows(table, tmp_path, compiler) == [*table], "without the option they are"
        assert watched_rows(table, tmp_path, compiler, "--plain-host") == []
    assert watched_rows(WATCHED, tmp_path, compiler, "--plain-host") == [*WATCHED]
