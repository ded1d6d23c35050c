"""The rewriter of CUDA C++ for the simulator: what it writes, what it refuses, and that compilers take it."""

import os
import re
import shutil
import subprocess

import pytest

from lessons import ROOT, make_try, run
from samples import ALL

CXX = os.environ.get("CXX") or "g++"
COMPILERS = [c for c in dict.fromkeys([CXX, "g++", "clang++"]) if shutil.which(c.split()[0])]

SHARED = "static __thread __attribute__((aligned(256)))"
LAMBDA = '[](auto... sim_arguments) __attribute__((no_sanitize("thread"))) {'
HEAP = (' extern "C" { __attribute__((section("sim_device"), weak, aligned(65536))) '
        'char device_heap[::sim::device_heap_bytes] = {}; }')
KERNEL = "__attribute__((noinline, noipa))"


def bound(threads):
    return ('struct sim_bound { static ::sim::Declared record() { return {::sim::Declared::bound, true, "", '
            '[]() -> void* { return nullptr; }, unsigned(' + str(threads) + ')}; } }; '
            'static_cast<void>(&::sim::listed<sim_bound>);')


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """That of the build; if everything is tried, one that every warning would stop."""
    if not ALL:
        return ROOT / "build/rewrite"
    path = tmp_path_factory.mktemp("rewrite") / "rewrite"
    done = run(*CXX.split(), "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror",
               *sorted((ROOT / "sim/rewrite").glob("*.cpp")), "-o", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def rewrite(program, tmp_path):
    """Runs the program on a text."""
    def rewritten(text):
        source = tmp_path / "text.ii"
        source.write_text(text)
        return run(program, source, timeout=60)
    return rewritten


def squeezed(text):
    """With every run of spaces as one, and none at the ends or inside of brackets."""
    text = text.replace("__attribute__((noinline)) ", "")  # test_functions_are_not_inlined
    # test_indices_of_local_arrays, test_checks_of_alignment
    text = re.sub(r'__attribute__\(\(no_sanitize\("(bounds|alignment)"(, "alignment")?\)\)\) ', "", text)
    text = re.sub(r"static __thread [^;]*", lambda shared: re.sub(r"\{\}(?=, \*?sim_gap_)", "", shared[0]), text)
    text = re.sub(r", \*?(const )?sim_gap_[^;,]*(?=[;,])", "", text).replace("((used, ", "((")  # test_gaps
    # test_layout_of_shared_arrays
    text = re.sub(r" static_assert\((sizeof|__builtin_constant_p).*?\"\);", "", text)  # test_refused.py
    text = re.sub(r" -> decltype\(void\(.*?\(sim_arguments\.\.\.\)\)\)", "", text)
    text = re.sub(r"( template <[^;{}]*>)? struct sim_record_(\d+) {.*?} };( static_cast<void>\(.*?\);"
                  r"| ::sim::declares\(.*?sim_record_\d+>\);)?", "", text)
    text = re.sub(r" static ::sim::Listed sim_record_\d+ .*?address_of.*?;.*?;", "", text)
    text = re.sub(r"[ \t]+", " ", text).strip()
    return re.sub(r"(?<=[({]) | (?=[)}])", "", text)


def loop(number):
    return ("if (const auto sim_outer = ::sim::outer_turn(); false) {} else if (::sim::Loop sim_loop(sim_outer); "
            "false) {} "
            f"else if (unsigned long sim_turns = ::sim::first_turn<{number}>(sim_outer); false) {{}} else")


def next_turn(number):
    return ("::sim::is_long(sim_turns = ::sim::next_turn(sim_turns)) && (::sim::long_loop(), sim_turns = "
            f"::sim::first_turn<{number}>(sim_outer), false)")


def turn(number):
    return f"if ({next_turn(number)}, false) {{}} else"

# What test_runs compiles and runs is not here: overloads, deduced arguments and Duff's device among them.
REWRITTEN = {
    # Launches.
    "launch": ("void h() { k<<<1, 2>>>(3); }",
               'void h() { ::sim::launch(::sim::Configuration(1, 2), "k", k)(3); }'),
    "a constrained template":
        ("template <int N, Number T> requires (N > 2) && A<T>::good || requires (T a) { a + a; { a * a } -> Same<T>; "
         "} __global__ void k(T* p) requires B<T> { f(); } void h() { k<3><<<1, 2>>>(p); }",
         f"template <int N, Number T> requires (N > 2) && A<T>::good || requires (T a) {{a + a; {{a * a}} -> "
         f"Same<T>;}} {KERNEL} void k(T* p) requires B<T> {{f();}} "
         f'void h() {{::sim::launch(::sim::Configuration(1, 2), "k<3>", {LAMBDA} k<3>(sim_arguments...); }})(p);}}'),
    "a constrained function": ("template <class T> requires ::n::A<T> and true __device__ T f(T x) requires requires { "
                               "x + x; } { return x; } void h() { k<<<1, 2>>>(p); }",
                               "template <class T> requires ::n::A<T> and true T f(T x) requires requires {x + x;} "
                               "{::sim::Call sim_call; return x;} "
                               'void h() {::sim::launch(::sim::Configuration(1, 2), "k", k)(p);}'),
    "a constraint before a body": ("template <class T> __device__ T f(T x) requires (sizeof(T) > 2) { return x; "
                                   "} template <class T> requires (sizeof(T) > 2) __device__ T g(T x) { return x; }",
                                   "template <class T> T f(T x) requires (sizeof(T) > 2) {::sim::Call sim_call; "
                                   "return x;} template <class T> requires (sizeof(T) > 2) T g(T x) {::sim::Call "
                                   "sim_call; return x;}"),
    "a constrained lambda": ("__global__ void k() { auto f = []<class T> requires (sizeof(T) > 2) || requires { T(); "
                             "} (T x) { return x; }; }",
                             f"{KERNEL} void k() {{ auto f = []<class T> requires (sizeof(T) > 2) || requires {{T();}} "
                             f"(T x) {{::sim::Call sim_call; return x; }}; }}"),
    "if consteval": ("__device__ int f() { if (a) for (;;) if !consteval { g(); } else { g(); } return 1; }",
                     f"int f() {{::sim::Call sim_call; if (a) {{{loop(1)} for (;;) {turn(1)} if !consteval {{g();}} "
                     f"else {{g();}}}} return 1;}}"),
    "apart": ("void h() { k << <1, 2>> >(3); }",
              'void h() { ::sim::launch(::sim::Configuration(1, 2), "k", k)(3); }'),
    "qualified": ("void h() { if (a) ::n::k<<<1, 2>>>(3); else n::k<<<1, 2>>>(3); }",
                  'void h() { if (a) ::sim::launch(::sim::Configuration(1, 2), "::n::k", ::n::k)(3); '
                  'else ::sim::launch(::sim::Configuration(1, 2), "n::k", n::k)(3); }'),
    "expression": ("void h() { s.table[3]<<<1, 2>>>(3); get<int>(4)<<<1, 2>>>(3); }",
                   'void h() { ::sim::launch(::sim::Configuration(1, 2), "s.table[3]", s.table[3])(3); '
                   '::sim::launch(::sim::Configuration(1, 2), "get<int>(4)", get<int>(4))(3); }'),
    "template arguments": ("void h() { n::k<T, (N > 2), v<w<int>>><<<f<g<int>>(1), c<d<2>>>>>(3); }",
                           'void h() { ::sim::launch(::sim::Configuration(f<g<int>>(1), c<d<2>>), "n::k<T, (N > 2), '
                           'v<w<int>>>", n::k<T, (N > 2), v<w<int>>>)(3); }'),
    "literal in the name":
        ("void h() { k<'\"', '\\n'><<<1, 2>>>(3); }",
         r"""void h() { ::sim::launch(::sim::Configuration(1, 2), "k<'\"', '\\n'>", k<'"', '\n'>)(3); }"""),
    "nested": ("void h() { k<<<f([] { k<<<1, 2>>>(3); }), 2>>>(g([] { k<<<4, 5>>>(6); })); }",
               'void h() { ::sim::launch(::sim::Configuration(f([] { ::sim::launch(::sim::Configuration(1, 2), "k", '
               'k)(3); }), 2), "k", k)(g([] { ::sim::launch(::sim::Configuration(4, 5), "k", k)(6); })); }'),
    "shift": ("void h() { a << b; a >> b; std::cout << k<1> << 3; x.operator<< <int>(3); }",) * 2,
    # Kernels that only a call chooses.
    "partly deduced": ("template <int N, class T> __global__ void k(T x) {} void h() { k<4><<<1, 2>>>(3); }",
                       f'template <int N, class T> {KERNEL} void k(T x) {{}} void h() {{ '
                       f'::sim::launch(::sim::Configuration(1, 2), "k<4>", {LAMBDA} k<4>(sim_arguments...); }})(3); '
                       f'}}'),
    "default, deduced": ("template <class T, class U = T> __global__ void k(T x, U y) {} void h() { k<int><<<1, "
                         "2>>>(3, 4.); }",
                         f'template <class T, class U = T> {KERNEL} void k(T x, U y) {{}} void h() {{ ::sim::launch('
                         f'::sim::Configuration(1, 2), "k<int>", {LAMBDA} k<int>(sim_arguments...); }})(3, 4.); }}'),
    "pack": ("template <class... T> __global__ void k(T... x) {} void h() { k<int><<<1, 2>>>(3, 4); }",
             f'template <class... T> {KERNEL} void k(T... x) {{}} void h() {{ ::sim::launch(::sim::Configuration(1, '
             f'2), "k<int>", {LAMBDA} k<int>(sim_arguments...); }})(3, 4); }}'),
    "function of the host": ("__global__ void k(int x) {} void k() { k<<<1, 2>>>(3); }",
                             f'{KERNEL} void k(int x) {{}} void k() {{ ::sim::launch(::sim::Configuration(1, 2), "k", '
                             f'{LAMBDA} k(sim_arguments...); }})(3); }}'),
    "function elsewhere": ("__global__ void k(int x) {} namespace a { void k(); } struct S { void k(); }; void h() { "
                           "k<<<1, 2>>>(3); }",
                           f'{KERNEL} void k(int x) {{}} namespace a {{ void k(); }} struct S {{ void k(); }}; '
                           'void h() { ::sim::launch(::sim::Configuration(1, 2), "k", k)(3); }'),
    "declared and defined": ("__global__ void k(int); void h() { k<<<1, 2>>>(3); } __global__ void k(int x) {}",
                             f'{KERNEL} void k(int); void h() {{ ::sim::launch(::sim::Configuration(1, 2), "k", k)(3); '
                             f'}} {KERNEL} void k(int x) {{}}'),
    "namespaces": ("namespace a { __global__ void k() {} } namespace b { __global__ void k() {} } void h() { b::k<<<1, "
                   "2>>>(); }",
                   f'namespace a {{ {KERNEL} void k() {{}} }} namespace b {{ {KERNEL} void k() {{}} }} '
                   'void h() { ::sim::launch(::sim::Configuration(1, 2), "b::k", b::k)(); }'),
    "specialized": ("template <class T> __global__ void k() {} template <> __global__ void k<int>() {} template "
                    "__global__ void k<char>(); void h() { k<int><<<1, 2>>>(); }",
                    f'template <class T> {KERNEL} void k() {{}} template <> {KERNEL} void k<int>() {{}} template '
                    f'{KERNEL} void k<char>(); '
                    'void h() { ::sim::launch(::sim::Configuration(1, 2), "k<int>", k<int>)(); }'),
    # Words.
    "bounds": ("extern \"C\" __global__ void __launch_bounds__(256, 2) __maxnreg__(64) k(const __grid_constant__ int "
               "x) {}",
               f'extern "C" {KERNEL} void k(const int x) {{{bound(256)}}}'),
    "bounds of a template": ("template <int n> __launch_bounds__(most<n, 2>()) __global__ void k() {}",
                             f"template <int n> {KERNEL} void k() {{{bound('most<n, 2>()')}}}"),
    "host": ("__host__ int f() { while (a) {} return 1; }", "int f() { while (a) {} return 1; }"),
    "inline": ("static __device__ __forceinline__ int f(); __forceinline__ inline __device__ int g(); __noinline__ "
               "__device__ int h();",
               "static inline int f(); inline int g(); __attribute__((noinline)) int h();"),
    "attribute of g++": ("__attribute__((__noinline__)) int f();",) * 2,
    "align": ("struct __align__(2 * 8) V { float x; };", "struct __attribute__((aligned(2 * 8))) V { float x; };"),
    "literals": ("auto s = R\"x(__global__ <<< \" )x\", t = \"__device__ k<<<1, 2>>>(3)\"; char c = '\"', n = '\\''; "
                 "int i = 1'000'000;",) * 2,
    "comments": ("/* __global__ */ // k<<<1, 2>>>(3)",) * 2,
    "system header": ('# 1 "/usr/include/x.h" 1 3 4\n__device__ void f() { for (;;) {} }\n# 2 "a.cu" 2\n'
                      '__device__ int f();',
                      '# 1 "/usr/include/x.h" 1 3 4\n__device__ void f() { for (;;) {} }\n# 2 "a.cu" 2\n int f();'),
    # Loops and calls.
    "loops": ("__global__ void k() { for (;;) a(); while (b) {} do c(); while (d); for (int i : e) f(i); while (g); }",
              f"{KERNEL} void k() {{ {loop(1)} for (;;) {turn(1)} a(); {loop(2)} while (b) {turn(2)} {{}} {loop(3)} do "
              f"{turn(3)} c(); while (d); {loop(4)} for (int i : e) {turn(4)} f(i); {loop(5)} while (g) "
              f"{next_turn(5)}; }}"),
    "do of while": ("__global__ void k() { do while (a) b(); while (c); while (d) do e(); while (f); }",
                    f"{KERNEL} void k() {{ {loop(1)} do {turn(1)} {loop(2)} while (a) {turn(2)} b(); while (c); "
                    f"{loop(3)} while (d) {turn(3)} {loop(4)} do {turn(4)} e(); while (f); }}"),
    "if": ("__global__ void k() { if (a) for (;;) b(); else while (c) d(); if constexpr (e) do f(); while (g); }",
           f"{KERNEL} void k() {{ if (a) {{ {loop(1)} for (;;) {turn(1)} b(); }} else {loop(2)} while (c) {turn(2)} "
           f"d(); if constexpr (e) {{ {loop(3)} do {turn(3)} f(); while (g); }} }}"),
    "do of if": ("__global__ void k() { do if (a) do b(); while (c); else { d(); } while (e); }",
                 f"{KERNEL} void k() {{ {loop(1)} do {turn(1)} if (a) {{ {loop(2)} do {turn(2)} b(); while (c); }} "
                 "else { d(); } while (e); }"),
    "pragma": ("__global__ void k() { a();\n#pragma unroll 4\nfor (;;) b(); }",
               f"{KERNEL} void k() {{ a(); {loop(1)} \n#pragma unroll 4\nfor (;;) {turn(1)} b(); }}"),
    "goto": ("__global__ void k() { goto in; while (a) { in: b(); } while (c) { goto out; } out: d(); }",
             f"{KERNEL} void k() {{ goto in; while (a) {{ in: b(); }} {loop(1)} while (c) {turn(1)} {{ goto out; "
             f"}} out: d(); }}"),
    "device function": ("template <class T> static __device__ T f(T x) { while (x) --x; return x; }",
                        f"template <class T> static T f(T x) {{::sim::Call sim_call; {loop(1)} while (x) {turn(1)} "
                        f"--x; return x; }}"),
    "host and device": ("__host__ __device__ auto f(int x) noexcept(true) -> pair<int, int> { return x; }",
                        "auto f(int x) noexcept(true) -> pair<int, int> {::sim::Call sim_call; return x; }"),
    "constexpr": ("constexpr __device__ int f(int x) { while (x) --x; return x; }",
                  "constexpr int f(int x) { while (x) --x; return x; }"),
    "members": ("struct S : B<int> { __device__ S(int x) : B<int>(x), a{x}, b((x)) { c(); } S() = default; __device__ "
                "~S() {} __device__ operator int*() const { return p; } __device__ int operator()(int i) const { "
                "return i; } friend __device__ bool operator<(S x, S y) { return true; } };",
                "struct S : B<int> { S(int x) : B<int>(x), a{x}, b((x)) {::sim::Call sim_call; c(); } S() = default; "
                "~S() {::sim::Call sim_call; } operator int*() const {::sim::Call sim_call; return p; "
                "} int operator()(int i) const {::sim::Call sim_call; return i; } friend bool operator<(S x, S y) "
                "{::sim::Call sim_call; return true; } };"),
    "outside of the class": ("template <class T> __device__ S<T>::S() : a(0) {} __device__ int S<T>::f() const { "
                             "return a[0]; }",
                             "template <class T> S<T>::S() : a(0) {::sim::Call sim_call; } int S<T>::f() const "
                             "{::sim::Call sim_call; return a[0]; }"),
    "lambdas": ("__global__ void k() { auto f = [&](int x) mutable -> int { return x; }; g([] { h(a[1]); }); "
                "int b[2]{}; auto [c, d] = b; auto e = [](int x) constexpr { while (x) --x; return x; }; delete[] p; }",
                f"{KERNEL} void k() {{ auto f = [&](int x) mutable -> int {{::sim::Call sim_call; return x; }}; "
                f"g([] {{::sim::Call sim_call; h(a[1]); }}); "
                "int b[2]{}; auto [c, d] = b; auto e = [](int x) constexpr { while (x) --x; return x; }; "
                "::sim::heap_delete_array->* p; }"
                + HEAP),
    "heap": ("__device__ S::S() : p(new int[2]) { q = (T*)malloc(n); ::free(q); std::free(q); delete p; s.free(q); "
             "new (q) T; }",
             "S::S() : p(new (::sim::on_heap) int[2]) {::sim::Call sim_call; q = (T*)::sim::heap_malloc(n); "
             "::sim::heap_free(q); ::sim::heap_free(q); ::sim::heap_delete->* p; s.free(q); new (q) T; }"
             + HEAP),
    "heap of the host": ("__global__ void k(); void h() { free(malloc(1)); delete new T; }",
                         f"{KERNEL} void k(); void h() {{ free(malloc(1)); delete new T; }}"),
    "lambda of the device": ("void h() { each([=] __device__ (int i) { while (i) --i; }); "
                             "each([] __host__ __device__ __forceinline__ {}); while (a) {} }",
                             f"void h() {{ each([=] (int i) {{::sim::Call sim_call; {loop(1)} while (i) {turn(1)} --i; "
                             f"}}); "
                             "each([] {::sim::Call sim_call; }); while (a) {} }"),
    "local class": ("__global__ void k() { struct S { __device__ int f() { while (a) {} } }; }",
                    f"{KERNEL} void k() {{ struct S {{ int f() {{::sim::Call sim_call; {loop(1)} while (a) {turn(1)} "
                    f"{{}} }} }}; }}"),
    # Variables.
    "shared": ("__global__ void k() { __shared__ T x[3]; static __shared__ int y; volatile __shared__ int z; "
               "T __shared__ u[2], v; }",
               f"{KERNEL} void k() {{ {SHARED} T x[3]; {SHARED} int y; {SHARED} volatile int z; {SHARED} T u[2], v; "
               f"}}"),
    "shared, aligned": ("__shared__ __align__(16) float x[4]; alignas(16) __shared__ float y; static __shared__ "
                        "alignas(32) float z;",
                        f"{SHARED} __attribute__((aligned(16))) float x[4]; alignas(16) {SHARED} float y; alignas(32) "
                        f"{SHARED} float z;"),
    "dynamic": ("__global__ void k() { extern __shared__ float a[]; volatile extern __align__(16) __shared__ unsigned "
                "int b[]; __shared__ extern V<T>* c[]; extern __shared__ int d[][33]; }",
                f"{KERNEL} void k() {{ float* const a = static_cast<float*>(::sim::dynamic_shared()); "
                "volatile unsigned int* const b = static_cast<volatile unsigned int*>(::sim::dynamic_shared()); "
                "V<T>** const c = static_cast<V<T>**>(::sim::dynamic_shared()); "
                "int (* const d)[33] = static_cast<int (*)[33]>(::sim::dynamic_shared()); }"),
    "dynamic, outside": ("extern __shared__ char a[]; extern __shared__ char a[]; __global__ void k() { auto p = "
                         "(int*)a; a[0] = f(a); }",
                         "static const struct { operator char*() const { return "
                         "static_cast<char*>(::sim::dynamic_shared()); } } "
                         'a __attribute__((unused)) = {}; static_assert(true, ""); '
                         f"{KERNEL} void k() {{ auto p = (int*)+a; a[0] = f(+a); }}"),
    "device":
        ("__device__ int a = 1, b; static __device__ V<T<int>> c{}; extern \"C\" __device__ int d; __device__ "
         "__managed__ int e; __device__ const int* f[2]; __device__ int (*g)(int); [[maybe_unused]] __device__ "
         "alignas(16) int h; __device__ int i(3);",
         "".join(
             f"{before}__attribute__((section(\"sim_{section}\"), aligned(32))) {after}" for before, section, after in [
                 ("", "device", "int a = 1, b; "), ("static ", "device", "V<T<int>> c{}; extern \"C\" "),
                 ("", "device", "int d; "), ("", "managed", "int e; "), ("", "device", "const int* f[2]; "),
                 ("", "device", "int (*g)(int); [[maybe_unused]] alignas(16) "), ("", "device", "int h; "),
                 ("", "device", "int i(3);")])),
    "constants": ("__constant__ float a[2]; static __constant__ const float b = 1; __device__ constexpr int c = 1; "
                  "__device__ const char* const d = e;",
                  '__attribute__((section("sim_constant"), aligned(32))) float a[2]; '
                  'static __attribute__((section("sim_constant_const"), aligned(32))) const float b = 1; '
                  '__attribute__((section("sim_device_const"), aligned(32))) constexpr int c = 1; '
                  '__attribute__((section("sim_device_const"), aligned(32))) const char* const d = e;'),
    "inline variables": ("inline __device__ int a; static inline __device__ int b; namespace { inline __device__ "
               "int c; } namespace n { inline __constant__ const int d = 1; }",
               '__attribute__((section("sim_device_inline"), aligned(32))) inline int a; '
               'static __attribute__((section("sim_device"), aligned(32))) inline int b; namespace { '
               '__attribute__((section("sim_device"), aligned(32))) inline int c; } namespace n { '
               '__attribute__((section("sim_constant_const_inline"), aligned(32))) inline const int d = 1; }'),
    "template": ("template <typename T> __device__ T a; template <> __device__ char a<char>; template <typename T> "
                 "inline __device__ T b;",
                 'template <typename T> struct sim_record_1; template <typename T> '
                 '__attribute__((aligned(::sim::aligned<sim_record_1<T>>))) T a; template <> '
                 '__attribute__((aligned(32))) char a<char>; template <typename T> struct sim_record_3; template '
                 '<typename T> __attribute__((aligned(::sim::aligned<sim_record_3<T>>))) inline T b;'),
    "function pointer": ("typedef __device__ int (*F)(int);", "typedef int (*F)(int);"),
    # What only the host does.
    "host's own": ("void f() { asm(\"\"); wmma::x(); tex2D(1); cudaTextureObject_t t; this_grid(); texture<int> u; "
                   "} struct texture; __global__ void k(S s) { s.tex2D(1); }",
                   "void f() { asm(\"\"); wmma::x(); tex2D(1); cudaTextureObject_t t; this_grid(); texture<int> u; "
                   "} struct texture; "
                   f"{KERNEL} void k(S s) {{ s.tex2D(1); }}"),
}


@pytest.mark.parametrize("text, expected", REWRITTEN.values(), ids=REWRITTEN)
def test_rewritten(rewrite, text, expected):
    done = rewrite(text + "\n")
    assert done.returncode == 0, done.stderr
    assert squeezed(done.stdout) == squeezed(expected)


REFUSED = {
    "shared = ": ("__shared__ int x\n= 1;", 2, "__shared__", "initializer"),
    "shared {}": ("__shared__ int x{1};", 1, "__shared__", "initializer"),
    "dynamic size": ("extern __shared__ int x[3];", 1, "float name[]"),
    "graph": ("void f() {\ncudaGraphNode_t n; }", 2, "CUDA graphs (cudaGraphNode_t)"),
    "graphics": ("void f() { cudaGraphicsMapResources(1, &r); }", 1, "graphics (cudaGraphicsMapResources)"),
    "processes": ("cudaIpcMemHandle_t h;", 1, "memory that processes share (cudaIpcMemHandle_t)"),
    "driver": ("void f() { cuModuleLoad(&m, name); }", 1, "functions of the driver (cuModuleLoad)"),
    "texture reference": ("texture<float, 2> t;", 1, "textures"),
    "fetch": ("__device__ int f() {\nreturn tex1Dfetch<int>(t, 1); }", 2, "textures"),
    "texture object": ("__global__ void k(\ncudaTextureObject_t t) {}", 2, "textures"),
    "surface": ("__global__ void k() { surf2Dwrite(1); }", 1, "surfaces"),
    "PTX": ("__device__ int f() {\n\nasm volatile(\"\"); }", 3, "inline PTX"),
    "PTX in a lambda": ("void f() { g([] __device__ () { __asm__(\"\"); }); }", 1, "inline PTX"),
    "an exception": ("__device__ int f() {\nthrow 3; }", 2, "nvcc refuses exceptions"),
    "catch": ("__global__ void k() { try {\nf(); } catch (...) {} }", 1, "nvcc refuses exceptions"),
    "typeid": ("__global__ void k() { f(typeid(int)); }", 1, "nvcc refuses typeid"),
    "tensor cores": ("using namespace nvcuda;", 1, "tensor cores"),
    "wmma": ("__global__ void k() { wmma::fill_fragment(a, 1); }", 1, "tensor cores"),
    "cluster": ("__global__ void k() { auto g = cooperative_groups::this_cluster(); }", 1, "clusters"),
    "cluster dimensions": ("__global__ void __cluster_dims__(2, 1, 1) k();", 1, "clusters"),
    "dynamic parallelism": ("__global__ void k() {\nk<<<1, 2>>>(); }", 2, "dynamic parallelism"),
    "no kernel": ("void f() { <<<1, 2>>>(); }", 1, "kernel<<<grid, block>>>(arguments)"),
    "no end": ("void f() { k<<<1, 2>>(); }", 1, "no >>>"),
    "no arguments": ("void f() { k<<<1, 2>>>; }", 1, "parentheses"),
    "no configuration": ("void f() { k<<<>>>(); }", 1, "grid"),
    "five": ("void f() { k<<<1, 2, 3, 4, 5>>>(); }", 1, "grid"),
    "empty": ("void f() { k<<<1, >>>(); }", 1, "grid"),
    "bracket": ("void f() {\n(", 2, "never closed"),
    "brackets": ("void f() { ( }", 1, "another kind"),
    "no bracket": ("}", 1, "never opened"),
    "literal": ("\nchar c = 'x;", 2, "never closed"),
    "raw": ("auto s = R\"(x)y\";", 1, "never closed"),
    "comment": ("/* x", 1, "never closed"),
    "launch of a function": ("void k(int* x) { *x = 1; }\nvoid f() { k<<<1, 2>>>(p); }", 2,
                             "a launch of k, which is no kernel; write __global__ void k(...)"),
    "a kernel's result": ("\n__global__ int k(int* x) { return *x; }", 2, "a kernel returns nothing; write __global__"),
    "global variable": ("__global__ int x;", 1, "not a function"),
}


def test_a_pointer_to_a_kernel_may_have_the_name_of_a_function(rewrite):
    """A parameter or a variable hides the function."""
    for caller in ("void f(void (*k)(int*)) { k<<<1, 2>>>(p); }", "void f() { auto k = g; k<<<1, 2>>>(p); }"):
        done = rewrite(f"__global__ void g(int* x) {{ *x = 1; }} void k(int* x) {{ *x = 1; }} {caller}")
        assert done.returncode == 0 and '"k", k)(p)' in done.stdout, done.stderr


def test_a_kernel_may_have_the_name_of_a_function_of_std(rewrite):
    """With `using namespace std`, the name alone is no pointer to a function."""
    library = '# 1 "/usr/include/x.h" 1 3 4\nnamespace std __attribute__((x)) { template <class T> T copy(T); }\n'
    kernel = '# 1 "a.cu" 2\n__global__ void copy(int* x) { *x = 1; } void f() { copy<<<1, 2>>>(p); }'
    assert "sim_arguments" in rewrite(f"{library}{kernel} using namespace std;").stdout
    assert "sim_arguments" not in rewrite(library + kernel).stdout
    assert "sim_arguments" not in rewrite(f"{kernel} using namespace std;").stdout


@pytest.mark.parametrize("text, line, words", [(t, n, w) for t, n, *w in REFUSED.values()], ids=REFUSED)
def test_refused(rewrite, text, line, words):
    done = rewrite(f'# 1 "/usr/include/x.h" 1 3 4\nint x;\n# 11 "some dir/a.cu" 2\n{text}\n')
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"some dir/a.cu:{line + 10}: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_command_line(program, tmp_path):
    assert run(program, "--help").stdout.startswith("usage: rewrite [--namespace NAME] [--plain-host] [--columns] "
                                                 "[FILE]\n")
    for arguments in (["--what"], ["a", "b"], [tmp_path / "none.ii"], [tmp_path]):
        done = run(program, *arguments)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    done = subprocess.run([program], input="__host__ int x;", capture_output=True, text=True)
    assert done.stdout == " int x;"
    done = subprocess.run([program, "-"], input="__shared__ int x = 1;", capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("-:1: ")


def test_lines_stay(rewrite):
    text = """__global__ void
k(int* p)
{
    extern __shared__
        float s
        [];
    for (int i = 0;
         i < 3; ++i)
        p[i] = __LINE__;
}
void h()
{
    k
    <<<
    1,
    2
    >>>
    (3);
    n::k<int,
         4><<<1,
              2>>>(__LINE__);
}
int last = __LINE__;
"""
    out = rewrite(text).stdout
    assert out.count("\n") == text.count("\n")
    for number, line in enumerate(text.splitlines()):
        if "__LINE__" in line:
            assert "__LINE__" in out.splitlines()[number]


@pytest.mark.parametrize("body, checked", [("a[i] = b[i];", False), ("__shared__ float t[32]; t[i] = a[i];", False),
                                           ("__shared__ float t[32][33], u[4]; t[1][2] = 1;", False),
                                           ("float t[4]; t[i] = 1;", True), ("v.element[i] = 1;", True),
                                           ("T t[N<T>]; use(t);", True), ("float x, t[4]; t[0] = x;", True),
                                           ("return a[i];", False), ("if (i) p[i] = 1; else q[i] = 1;", False),
                                           ("std::array<int, 3> t; int u[2] = {};", True),])
def test_indices_of_local_arrays(rewrite, body, checked):
    """Are checked by the compiler; those of shared and global memory by their addresses, at less cost."""
    out = rewrite(f"__global__ void k(float* a, int i) {{ {body} }}").stdout
    assert ('no_sanitize("bounds"' not in out) == checked


@pytest.mark.parametrize("text, checked",
                         [("__global__ void k(float* a) { a[0] = 1; }", False),
                          ("__device__ unsigned long long f(const int* a) { return *a; }", False),
                          ("__global__ void k(float4* a) { a[0].x = 1; }", True),
                          ("__global__ void k(double4_16a* a) { a[0].x = 1; }", True),
                          ("__global__ void k(float* a) { reinterpret_cast<ulonglong2*>(a)[0].x = 1; }", True),
                          ("template <typename T> __global__ void k(T* a) { a[0] = 1; }", True),
                          ("__global__ void k(float* a) { for (auto x : g(a)) f(x); }", True),
                          ("struct __align__(16) S { float x[4]; }; __global__ void k(S* a) { a[0].x[1] = 1; }", True),
                          ("struct alignas(16) S { float x; }; __device__ float f(const S& a) { return a.x; }", True),
                          ("typedef struct { double x, y; } Two; __device__ double f(Two* a) { return a->x; }", True),
                          ("using V = float; __device__ float f(V* a) { return *a; }", True),
                          ("struct S { float x; __device__ float f() { return x; } };", True),
                          ("__device__ float f(__half2* a) { return a->x; }", True),
                          ("__device__ float f(cuDoubleComplex* a) { return cuCreal(*a); }", True),
                          ("struct S { float x; }; __global__ void k(float* a) { a[0] = 1; }", False),
                          ("__device__ int f(int int5, int a2) { return int5 + a2; }", False),])
def test_checks_of_alignment(rewrite, text, checked):
    """Where an object may need more alignment than its members."""
    assert ('"alignment")' not in rewrite(text).stdout) == checked


@pytest.mark.parametrize("text, kept",
                         [("__device__ float f(float x) { return x; }", True),
                          ("__device__ inline float f(float x) { return x; }", True),
                          ("template <class T> __host__ __device__ T f(T x) { return x; }", True),
                          ("struct S { __device__ S(int); __device__ int f() const { return 1; } };", True),
                          ("__device__ constexpr int f() { return 1; }", True), ("__global__ void k() {}", False),
                          ("void f() {}", False),])
def test_functions_are_not_inlined(rewrite, text, kept):
    """So that their accesses are their own. Copies that the compiler makes are inlined, and belong to who copies."""
    assert ("__attribute__((noinline))" in rewrite(text).stdout) == kept


@pytest.mark.parametrize("text, gaps", [
    ("__global__ void k() { __shared__ float a[32][32]; }", ["sim_gap_a"]),
    ("__global__ void k() { __shared__ float a[3], b, *c; }", ["sim_gap_a", "sim_gap_b", "*sim_gap_c"]),
    ("template <class T, int N> __device__ void f() { static __shared__ T a[N], b[N][N + 1]; }",
     ["sim_gap_a", "sim_gap_b"]),
    ("__shared__ struct { int a[3]; } s;", ["sim_gap_s"]), ("__device__ int a[3];", ["sim_gap_a"]),
    ("static __device__ int a = 3, *b[2] = {};", ["sim_gap_a", "*sim_gap_b"]),
    ("__constant__ float a[2] = {f(1, 2), 3}, b;", ["sim_gap_a", "sim_gap_b"]),
    ("__constant__ const float* const a = nullptr;", ["*const sim_gap_a"]),
    ("__device__ const float* a;", ["*sim_gap_a"]), ("__device__ float (*a[2])(float) = {f, g};", ["*sim_gap_a"]),
    ("__managed__ int a[4];", ["sim_gap_a"]), ("__device__ const float a[] = {1, 2};", ["sim_gap_a"]),
    ("namespace n { __device__ const float* const a[2] = {}; }", ["*sim_gap_a"]), ("extern __device__ int a[3];", []),
    ("template <class T> __device__ T a[3];", []), ("__global__ void k() { extern __shared__ int a[]; }", []),
])
def test_gaps(rewrite, text, gaps):
    """Behind each array lies a gap, declared with it."""
    assert re.findall(r", (\*?(?:const )?sim_gap_\w+)\[::sim::gap_elements<decltype\(\w+\)>\]",
                      rewrite(text).stdout) == gaps


def test_a_table_of_constants(rewrite):
    """g++ does not watch a constant object. The name is a reference to something constant, and the object is a
    variable."""
    out = rewrite("__device__ const float a[2] = {1, 2};\n").stdout
    assert "float sim_table_a[2] = {1, 2}" in out and "static const decltype(sim_table_a)& a " in out
    for text in ("__device__ const float a = 1;", "__device__ constexpr int a[2] = {1, 2};",
                 "__constant__ const float a[2] = {1, 2};", "extern __device__ const int a[2];",
                 "struct S { __device__ static const int a[2]; };"):
        assert "sim_table_" not in rewrite(text).stdout, text


def test_layout_of_shared_arrays(rewrite):
    """The order of their declarations, what they are aligned to, and what tells the padding of an element."""
    out = rewrite("__global__ void k() { __shared__ float a[10], b; __shared__ __align__(16) char c[3]; }").stdout
    assert re.findall(r'record_of<::sim::Declared::shared_of_kernel, decltype\((\w+)\)>\("(\w+)", '
                      r"\[\] { return ::sim::address_of\((\w+)\); }, (\d+), (\w+)\)", out) == [
                          ("a", "a", "a", "1", "1"), ("b", "b", "b", "2", "1"), ("c", "c", "c", "3", "16")]


@pytest.mark.parametrize("text, records", [
    ("__device__ int a = 1, *b; namespace n { __constant__ const float c[2] = {}; }",
     [("device", "a", "a"), ("device", "b", "b"), ("constant", "c", "c")]),
    ("extern __device__ int a; extern \"C\" __device__ int b; __device__ int n::a = 1; extern __device__ int c = 3;",
     [("device", "a", "n::a"), ("device", "c", "c")]),
    ("__managed__ int (*a)(int); __device__ const int b[] = {1};",
     [("managed", "a", "a"), ("device", "b", "sim_table_b")]),
    ("template <class T, int n = 3, class... U> __constant__ T a[n]; template <> __constant__ int a<int, 3>[3];",
     [("constant", "a", "a<T, n, U...>"), ("constant", "a", "a<int, 3>")]),
    ("__device__ int f() { static int a, b[2]; return a + b[0]; } int g() { static int c; return c; }",
     [("device", "a", "a"), ("device", "b", "b")]),
    ("__shared__ int a[3]; __device__ void f() { __shared__ int b; } __global__ void k() { extern __shared__ int c[]; "
     "}",
     [("shared", "a", "a"), ("shared_of_function", "b", "b")]),
    ("struct S { static __device__ int a; };", []),
])
def test_records(rewrite, text, records):
    """Each array and each variable of the device registers itself where it is defined."""
    assert re.findall(r'Declared::(\w+), (?:const )?decltype\(.*?\)>\("(\w+)", \[\] { return ::sim::address_of'
                      r"\((.*?)\); }", rewrite(text).stdout) == records


def declared(array, of_kernel):
    return f"::sim::Declared::shared_of_{of_kernel}, decltype({array})>"


def test_declarations_of_shared_arrays(rewrite):
    """Each is reported where it stands: in front of the marker of a loop that follows, which may have a pragma between
    them."""
    for pragma in ("", "\n#pragma unroll\n"):
        for specifiers, of_kernel in (("__global__", "kernel"), ("__device__", "function")):
            out = rewrite(f"{specifiers} void k() {{ __shared__ int a[3], b;{pragma} for (;;) f(); }}").stdout
            places = [
                out.index(text) for text in (declared("a", of_kernel), declared("b", of_kernel), loop(1), "for (;;)")]
            assert places == sorted(places), out
    out = rewrite("__shared__ int everywhere[3]; __global__ void k() { auto f = [] { __shared__ int a; }; } "
                  "__device__ void g() { __shared__ int b; }").stdout
    assert declared("a", "kernel") in out and declared("b", "function") in out
    assert "declares(&reinterpret_cast<const volatile char&>(everywhere)" not in out


@pytest.mark.parametrize("errors, expected", [
    ("a b.cu:3:10: fatal error: thrust/sort.h: No such file or directory\n",
     "a b.cu:3: thrust/sort.h: Thrust is not supported by the simulator; use cudaMalloc, "
     "cudaMemcpy and a kernel"),
    ("a.cu:3:10: fatal error: 'cub/cub.cuh' file not found\n",
     "a.cu:3: cub/cub.cuh: CUB is not supported by the simulator; write the algorithm as a "
     "kernel"),
    ("In file included from a.cu:1:\nb.h:7:10: schwerwiegender Fehler: mma.h: Datei oder Verzeichnis nicht gefunden\n",
     "b.h:7: mma.h: tensor cores (nvcuda::wmma) are not supported by the simulator; write the product as a loop"),
    ("a.cu:3:10: fatal error: cublas_tools.h: No such file or directory\n", None),
    ("a.cu:3:10: fatal error: cub: No such file or directory\n", None),
    ('a.cu:3:2: error: #error "no thrust/sort.h: thrust/ is missing"\n', None), ("", None),])
def test_headers_that_are_missing(program, tmp_path, errors, expected):
    """What the preprocessor says of CUDA's libraries is one line; what it says of other headers stays as it is."""
    (tmp_path / "errors").write_text(errors)
    done = run(program, "--missing", tmp_path / "errors")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected + "\n" if expected else errors)


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


def test_namespace(program):
    """What is included stays outside, so that two halves of one file can be linked."""
    text = ('# 1 "a.cu"\n# 1 "b.h" 1\nint b;\n# 2 "a.cu" 2\nint a;\nvoid f() {\n# 1 "c.h" 1\nc();\n# 5 "a.cu" '
            '2\n}\n# 1 "d.h" 1\nint d;\n# 9 "a.cu" 2\n')
    out = subprocess.run([program, "--namespace", "half"], input=text, capture_output=True, text=True).stdout
    assert out == text.replace("int a;", "inline namespace half { int a;").replace('2\n}\n', '2\n} }\n')


def test_fast(rewrite, program, tmp_path):
    """100,000 lines of kernels. 0.05 s on a quiet machine; were the time to grow with the square of the text, it would
    take minutes."""
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
    text = "".join(kernel % (i, i, i) for i in range(11000))
    assert rewrite(text).returncode == 0
    assert run(program, "--plain-host", tmp_path / "text.ii", timeout=60).returncode == 0


# CUDA as far as the programs below need it. A thread is a fiber: a block's threads share one host thread's variables.
STUB = r"""
#pragma once
#include <cstddef>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>
#include <ucontext.h>

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

namespace sim {
alignas(128) inline char shared_bytes[1 << 16];
inline void* dynamic_shared() { return shared_bytes; }
inline int turns = 0, loops = 0, calls = 0;
template <typename T> constexpr unsigned gap_elements = 3;
struct Declared {
    enum Kind { shared, shared_of_function, shared_of_kernel, device, managed, constant, bound } kind;
    bool read_only;
    const char* name;
    void* (*address)();
    size_t bytes;
};
template <Declared::Kind kind, typename T>
Declared record_of(const char* name, void* (*address)(), unsigned, unsigned)
{
    return {kind, false, name, address, sizeof(T)};
}
template <typename T> void* address_of(T& t) { return const_cast<char*>(&reinterpret_cast<const volatile char&>(t)); }
struct Listed { explicit Listed(const Declared&) {} };
template <typename T> inline Listed listed{T::record()};
template <typename T> constexpr int aligned = (static_cast<void>(&listed<T>), 32);
inline void declares(const volatile void*, const Listed&) {}
inline unsigned long outer_turn() { return 0; }
template <int id> unsigned long first_turn(unsigned long) { return 0; }
inline unsigned long next_turn(unsigned long) { ++turns; return 0; }
inline bool is_long(unsigned long) { return false; }
inline void long_loop() {}
struct Loop {
    explicit Loop(unsigned long) { ++loops; }
    ~Loop() {}
};
inline void ends() {}
inline void returns_early() {}
struct Call {
    Call() { ++calls; }
    ~Call() {}
};
struct Configuration {
    dim3 grid, block;
    Configuration(dim3 grid, dim3 block = 1, size_t = 0, int = 0) : grid(grid), block(block) {}
};

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    bool done;
};
inline ucontext_t scheduler;
inline Fiber* fiber;
inline std::function<void()> thread;
inline void enter() { thread(), fiber->done = true; }

inline void run_block()
{
    std::vector<std::unique_ptr<Fiber>> fibers;
    for (unsigned i = 0; i < blockDim.x * blockDim.y; ++i) {
        fibers.emplace_back(new Fiber{{}, std::vector<char>(65536), false});
        getcontext(&fibers[i]->context);
        fibers[i]->context.uc_stack.ss_sp = fibers[i]->stack.data();
        fibers[i]->context.uc_stack.ss_size = fibers[i]->stack.size();
        fibers[i]->context.uc_link = &scheduler;
        makecontext(&fibers[i]->context, enter, 0);
    }
    for (bool alive = true; alive;) {
        alive = false;
        for (unsigned i = 0; i < fibers.size(); ++i) {
            fiber = fibers[i].get();
            threadIdx = {i % blockDim.x, i / blockDim.x, 0};
            if (!fiber->done) swapcontext(&scheduler, &fiber->context), alive = true;
        }
    }
}

template <typename Function>
auto launch(Configuration c, const char* name, Function function)
{
    return [=](auto... arguments) {
        std::printf("[%s]\n", name);
        thread = [&] { function(arguments...); };
        gridDim = c.grid, blockDim = c.block;
        for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block();
    };
}
}

inline void __syncthreads()
{
    const uint3 index = threadIdx;
    swapcontext(&sim::fiber->context, &sim::scheduler);
    threadIdx = index;
}
"""

# Each program, and what it prints.
PROGRAMS = {
    "saxpy": (r"""
template <typename T>
__global__ void saxpy(int n, T a, const T* x, T* y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
__global__ void over(int* p) { *p += 1; }
__global__ void over(float* p) { *p += 2; }
namespace n {
template <int N, typename T = float> __global__ void add(T* p) { *p += N; }
template <typename... T> __global__ void sum(int* out, T... x) { *out = (x + ...); }
}
template <int N> void launched(float* p) { n::add<N><<<1, 1>>>(p); }
int main()
{
    float x[5] = {1, 2, 3, 4, 5}, y[5] = {};
    saxpy<<<dim3(2), 2, 0, 0>>>(5, 2.f, x, y);
    saxpy<float><<<1,
                   sizeof x / sizeof *x < 3 ? 1 : 2>>>(5, 2, x, y);
    auto k = saxpy<float>;
    (k)<<<1, 1>>>(1, 1, x, y);
    int i = 0;
    over<<<1, 3>>>(&i);
    over<<<1, 1>>>(x);
    launched<4>(x);
    n::sum<<<1, 1>>>(&i, 1, 2, i);
    std::printf("%g %g %g %d %d\n", x[0], y[0], y[4], i, sim::turns);
}
""", "[saxpy]\n[saxpy<float>]\n[(k)]\n[over]\n[over]\n[n::add<N>]\n[n::sum]\n7 5 20 6 11\n"),
    "matmul": (r"""
#define TILE 4
struct __align__(16) Pair {
    float a, b;
    __host__ __device__ Pair(float x, float y) : a{x}, b(y) {}
    __device__ __forceinline__ float product() const { return a * b; }
    __device__ operator float() const { return product(); }
};
template <int N>
__global__ __launch_bounds__(TILE * TILE) void matmul(const float* a, const float* b, float* c)
{
    __shared__ __align__(16) float as[TILE][TILE];
    static __shared__ alignas(16) float bs[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < N / TILE; ++t) {
        as[threadIdx.y][threadIdx.x] = a[y * N + t * TILE + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * N + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += Pair(as[threadIdx.y][k], bs[k][threadIdx.x]);
        __syncthreads();
    }
    c[y * N + x] = sum;
}
int main()
{
    static float a[64], b[64], c[64];
    for (int i = 0; i < 64; ++i) a[i] = i % 7, b[i] = i % 5;
    matmul<8><<<dim3(2, 2), dim3(TILE, TILE)>>>(a, b, c);
    int wrong = 0;
    for (int i = 0; i < 64; ++i) {
        float sum = 0;
        for (int k = 0; k < 8; ++k) sum += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
        wrong += sum != c[i];
    }
    std::printf("%d %d %d\n", wrong, sim::turns, sim::calls);
}
""", "[matmul<8>]\n0 640 1536\n"),
    "reduction": (r"""
extern __shared__ int outside[];
template <typename T> __device__ T first(T* p) { return p[0]; }
__global__ void inside(const int* in, int* out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
}
__global__ void global(const int* in, int* out)
{
    extern __shared__ volatile int table[][2];
    outside[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int* p = outside;
    char* bytes = reinterpret_cast<char*>(outside);
    if (threadIdx.x == 0)
        *out = first(outside) + p[1] + *(outside + 2) + ((int*)outside)[3] + int(bytes[16]) + table[2][1];
}
int main()
{
    int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out = 0;
    inside<<<1, 8, sizeof in>>>(in, &out);
    std::printf("%d\n", out);
    global<<<1, 8, sizeof in>>>(in, &out);
    std::printf("%d\n", out);
}
""", "[inside]\n36\n[global]\n21\n"),
    "control flow": (r"""
__device__ int steps(int n)
{
    int s = 0;
    while (n != 1) {
        if (n % 2) { n = 3 * n + 1; ++s; continue; }
        n /= 2;
        if (++s > 1000) break;
    }
    return s;
}
__global__ void flow(int* out)
{
    int sum = 0, i = 0;
    if (sum == 0)
        for (int j = 0; j < 3; ++j) sum += j;
    else
        sum = -1;
    if (sum == 0) while (true) {} else if (sum == 3) do ++sum; while (sum < 6); else sum = -2;
    out[0] = sum;
    while (i++ < 5);
    do ; while (i++ < 9);
    out[1] = i;
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
            if (a * b == 6) goto found;
            else if (a == b) continue;
            else ++sum;
found:
    out[2] = sum;
    int n = 7, to = 0;
    switch (n % 4) {
        case 0: do { ++to; [[fallthrough]];
        case 3: ++to; [[fallthrough]];
        case 2: ++to; [[fallthrough]];
        case 1: ++to; } while ((n -= 4) > 0);
        break;
        default: for (;;) {}
    }
    out[3] = to;
    int table[] = {1, 2, 3};
    for (int& x : table) if (x == 2) x = 5; else for (int j : {1, 2}) x += j;
    out[4] = table[0] + table[1] + table[2];
    auto twice = [&](int x) { int y = 0; while (x--) y += 2; return y; };
    out[5] = twice(steps(7));
again:
    if (++i < 20) goto again;
    if constexpr (sizeof(int) == 4) for (;;) break;
    out[6] = i;
}
int main()
{
    int out[7];
    flow<<<1, 1>>>(out);
    for (int x : out) std::printf("%d ", x);
    std::printf("%d\n", sim::calls);
}
""", "[flow]\n6 10 14 7 15 32 20 2\n"),
    "variables": (r"""
#include <cstddef>
__device__ int counter = 3, other;
static __device__ alignas(32) float aligned[4];
__constant__ int table[3] = {1, 2, 3};
static __constant__ const int fixed = 4;
__device__ constexpr int known = 5;
__managed__ int managed = 6;
inline __device__ int inlined = 7;
__device__ int (*chosen)(int);
struct Base { int b; __device__ explicit Base(int x) : b(x) {} };
template <typename T> struct Derived : Base {
    T t[2];
    __device__ Derived(T x) : Base(1), t{x, x} { other += 10; }
    __device__ int operator()(int i) const { return i + b + int(t[1]); }
    __host__ __device__ static int helper(int x);
};
template <typename T> __device__ int Derived<T>::helper(int x) { return x + fixed + known; }
static __device__ int add(int x) { return x + table[2]; }
template <typename F> __global__ void each(F f, int n, int* out)
{
    for (int i = 0; i < n; ++i) out[i] = f(i);
}
__global__ void use(int* out)
{
    __shared__ struct { int a, b; } pair;
    __shared__ int volatile v;
    pair.a = ++counter, pair.b = ++managed, v = inlined;
    chosen = add;
    out[0] = pair.a + pair.b + v;
    out[1] = Derived<float>(2)(3) + other;
    out[2] = Derived<char>::helper(1) + chosen(1);
    out[3] = int(reinterpret_cast<size_t>(aligned) % 32) + (out != NULL);
}
int main()
{
    int out[4];
    use<<<1, 1>>>(out);
    std::printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
    int base = 40;
    auto f = [=] __host__ __device__ (int i) { do --i; while (i > 0); return base + i; };
    each<<<1, 1>>>(f, 3, out);
    std::printf("%d %d %d\n", out[0], out[1], out[2]);
}
""", "[use]\n18 16 14 1\n[each]\n39 40 40\n"),
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs(program, tmp_path, compiler, name):
    """g++ and clang++ take what is written, without a warning, and the program does what the CUDA program does."""
    text, expected = PROGRAMS[name]
    (tmp_path / "stub.h").write_text(STUB)
    (tmp_path / "a.cu").write_text('#include "stub.h"\n' + text)
    compiler = compiler.split()
    done = run(*compiler, "-std=c++17", "-E", "-x", "c++", tmp_path / "a.cu", "-o", tmp_path / "a.e")
    assert done.returncode == 0, done.stderr
    done = run(program, tmp_path / "a.e")
    assert done.returncode == 0, done.stderr
    (tmp_path / "a.ii").write_text(done.stdout)
    clang = "clang" in run(*compiler, "--version").stdout
    # unroll; noipa; g++ 16 warns of std::vector where a context is switched
    quiet = ["-Wno-unknown-pragmas", "-Wno-unknown-attributes" if clang else "-Wno-clobbered"]
    done = run(*compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", *quiet, tmp_path / "a.ii", "-o",
               tmp_path / "a")
    assert done.returncode == 0, done.stderr
    done = run(tmp_path / "a")
    assert done.returncode == 0 and done.stdout == expected


# Each reads or writes through a pointer where only the host can come.
OF_THE_HOST = {
    "function": "void f(int* p) { *p = 1; }",
    "static inline": "static inline int f(int* p) { return *p; } int (*use)(int*) = f;",
    "template": "template <typename T, int N> T f(T* p) { return p[N]; } template int f<int, 3>(int*);",
    "trailing return type": "template <typename T> auto f(T* p) -> decltype(*p + 1) { return *p + 1; } template auto "
                            "f<int>(int*) -> decltype(1 + 1);",
    "specialization": "template <typename T> T f(T*); template <> int f<int>(int* p) { return *p; }",
    "extern C": "extern \"C\" int f(int* p) { return *p; } extern \"C\" { static int g(int* p) { return *p; "
                "} int h(int* p) { return g(p); } }",
    "namespaces": "namespace a { namespace { int f(int* p) { return *p; } } inline namespace b { int g(int* p) { "
                  "return f(p); } } } namespace a::d { int h(int* p) { return *p; } }",
    "attributes": "[[nodiscard]] int f(int* p) { return *p; } __attribute__((noinline)) static int g(int* p) { return "
                  "*p; } int h(int* p) { return g(p); } [[gnu::cold]] [[nodiscard]] static inline const int& i(int* p) "
                  "{ *p = 1; return *p; } const int& (*use)(int*) = i;",
    "pointers and references": "int* f(int** p) { return *p; } const int& g(int** p) { return **p; } unsigned long "
                               "long h(unsigned long long* p) { return *p; } struct S { int i; }; struct S* "
                               "k(struct S** p) { return *p; }",
    "members": "struct S { int i; explicit S(int* p) : i(*p) {} S(const S& s) : i{s.i} {} ~S() { i = 0; } int get() "
               "const noexcept { return i; } virtual int v() { return i; } static int s(int* p) { return *p; "
               "} int operator()(int* p) const { return *p + i; } operator int() const { return i; "
               "} S& operator=(const S& s) { i = s.i; return *this; } friend int f(S& s) { return s.i; "
               "} int operator[](int n) & { return i + n; } private: int hidden() { return i; } public: auto call() { "
               "return hidden(); } }; int all(S* s, int* p) { S a(p), b(a); b = a; return (*s)(p) + int(b) + s->get() "
               "+ s->v() + S::s(p) + f(*s) + a[1] + s->call(); }",
    "classes of templates": "template <typename T> class S : public T { public: S() : T(), a{} { a[0] = 1; "
                            "} T get(int i) const { return a[i]; } template <typename U> U as(int i) { return U(a[i]); "
                            "} protected: int a[3]; }; struct B { B() {} B(int) {} }; template class S<B>; "
                            "int f(S<B>* s) { return s->as<int>(1); }",
    "outside of the class":
        "template <typename T> struct S { T* p; S(T* q); ~S(); T get() const; T& operator[](int i); operator bool() "
        "const; struct In { T t; T g(); }; }; template <typename T> S<T>::S(T* q) : p(q) { p[0] = 1; } template "
        "<typename T> S<T>::~S() { p[0] = 0; } template <typename T> T S<T>::get() const { return *p; } template "
        "<typename T> T& S<T>::operator[](int i) { return p[i]; } template <typename T> S<T>::operator bool() const { "
        "return p; } template <typename T> T S<T>::In::g() { return t; } template struct S<int>;",
    "operators": "struct V { int x; }; V operator+(const V& a, const V& b) { return {a.x + b.x}; "
                 "} bool operator<(const V& a, const V& b) { return a.x < b.x; } V& operator+=(V& a, const V& b) { a.x "
                 "+= b.x; return a; } long operator\"\"_k(const char* p, unsigned long n) { return p[n - 1]; } void* "
                 "operator new(unsigned long n, V* v) { v->x = 1; return v; }",
    "a function that is one try": "int f(int* p) try { return *p; } catch (int i) { return i; } catch (...) { *p = 1; "
                                  "throw; } struct S { int i; S(int* p) try : i(*p) {} catch (...) { *p = 2; } }; "
                                  "int g(int* p) { return S(p).i; }",
    "lambdas": "int f(int* p) { int n = *p; auto a = [&] { return p[n]; }; auto b = [=](int i) -> int { return p[i] + "
               "n; }; auto c = [p](auto i) { return p[i]; }; auto d = [](int* q) { return *q; }; auto e = [p]() -> int "
               "{ return *p; }; return a() + b(1) + c(2) + d(p) + e() + [&](int i) { return [&] { return p[i]; }(); "
               "}(3); } auto outside = [](int* p) { return *p; }; int g(int* p) { return outside(p); }",
    "lambdas of templates": "template <typename F> int each(F f, int* p) { return f(p); } int f(int* p) { return "
                            "each([]<typename T>(T* q) { return *q; }, p); } int (*use)(int*) = f;",
    "local classes": "int f(int* p) { struct Less { int* q; bool operator()(int i) const { return q[i]; } Less(int* r) "
                     ": q(r) { *q = 1; } }; Less less(p); return less(1); }",
    "default arguments and initializers": "int other[3]; int f(int* p, int i = other[1], int (*g)(int*) = nullptr) { "
                                          "return p[i] + (g ? g(p) : 0); } int h(int* p) { int a[] = {p[0], p[1]}, "
                                          "*b{p}; return a[other[0]] + *b + f(p); }",
    "functions of functions": "using F = int (*)(int*); F f(int** p) { *p = nullptr; return nullptr; } auto g(int* p) "
                              "-> int (*)[3] { *p = 1; return nullptr; }",
    "friends and nested": "class A { struct B { int i; int get() { return i; } } b; enum E { x, y = 3 } e; union U { "
                          "int i; float f; int g() { return i; } } u; friend class C; public: int all() { return "
                          "b.get() + u.g() + e; } }; int f(A* a) { return a->all(); }",
    "main": "int main(int argc, char** argv) { char c = argv[0][argc]; for (int i = 0; i < argc; ++i) c += argv[i][0]; "
            "return c; }",
    "after other declarations": "struct S { int a[2]; } s = {{1, 2}}, *t = &s; int array[] = {1, 2}; enum class E : "
                                "int { a, b }; extern int n; typedef int (*F)(int*); static_assert(sizeof(int) == 4, "
                                "\"\"); asm(\"\"); template <typename T> using P = T*; int f(P<int> p) { return *p + "
                                "array[1]; } ; int g(S* s) { return s->a[1]; }",
    "names that device code has, too": "struct S { int size; }; __device__ int sum(S s) { int total = 3; return total; "
                                       "} int total(int* p) { return *p; } int size(int* p) { return *p; "
                                       "} int sum(int* p) { return *p; }",
    "const and ref qualifiers": "struct S { int i; int a() const& { return i; } int b() && noexcept(true) { return i; "
                                "} int c() const volatile { return i; } }; int f(S* s) { return s->a() + ((S&&)*s).b() "
                                "+ s->c(); }",
}

# Functions that device code may call keep their calls.
WATCHED = {
    "kernel": "__global__ void k(int* p) { *p = 1; }",
    "device": "__device__ int f(int* p) { return *p; }",
    "host and device": "__host__ __device__ int f(int* p) { return *p; } template <typename T> __device__ __host__ T "
                       "g(T* p) { return *p; } template int g(int*);",
    "constexpr": "constexpr int f(int* p) { return *p; } int (*use)(int*) = f;",
    "members": "struct S { int i; __device__ int get() const { return i; } }; __device__ int k(S* s) { return "
               "s->get(); }",
    "lambda of the device": "template <typename F> void each(F f) { f(out); } void f(int n) { "
                            "each([=] __device__ (int* p) { *p = n; }); }",
    "lambda in a kernel": "__global__ void k(int n) { int* p = out; auto f = [p](int i) { return p[i]; }; out[0] = "
                          "f(n); }",
    # nvcc warns of such a call, and refuses it in a function for the device alone.
    "called by device code": "int f(int* p) { return *p; } __host__ __device__ void h(int* p) { f(p); }",
    "called by what device code calls": "int g(int* p) { return *p; } int f(int* p) { return g(p); } struct S { int* "
                                        "p; int run() { return f(p); } }; __device__ int h(S s) { return s.run(); }",
    "class of a parameter": "struct S { int* p; int operator()(int i) const { return p[i]; } }; __device__ int k(S s) "
                            "{ return s(1); }",
    "class of an argument": "struct S { void operator()(int* p) const { *p = 1; } }; template <typename F> __global__ "
                            "void k(F f) { f(out); } void h() { S s; k<<<1, 1>>>(s); }",
    "template argument": "struct S { static void get(int* p) { *p = 1; } }; template <typename F> __global__ void k() "
                         "{ F::get(out); } void h() { k<S><<<1, 1>>>(); }",
    "lambda that is passed": "template <typename F> __global__ void k(F f) { f(out); } void h() { auto f = [](int* p) "
                             "{ *p = 1; }; k<<<1, 1>>>(f); }",
    "lambda in a launch": "template <typename F> __global__ void k(F f) { f(out); } void h() { k<<<1, "
                          "1>>>([](int* p) { *p = 1; }); }",
    "only declared for the device": "__device__ int f(const int* p); int f(const int* p) { return *p; }",
    "a member that is only declared so": "struct S { int i; __device__ int get() const; }; int S::get() const { return "
                                         "i; }",
    "a constructor that is only declared so": "struct S { int i; __device__ S(int* p); }; S::S(int* p) : i(*p) {}",
    "an operator that is only declared so": "struct S { int i; __device__ int operator()(int* p); }; "
                                            "int S::operator()(int* p) { return *p; }",
    "operator": "struct V { int x; }; V operator+(const V& a, const V& b) { return {a.x + b.x}; } __device__ int "
                "f(V v) { return 1; }",
}
STUB_OF_LAUNCHES = """extern int out[];
namespace sim { struct Call { ~Call() {} }; struct Configuration { Configuration(int, int) {} };
template <typename K> auto launch(const Configuration&, const char*, K k) { \
return [k](auto... a) __attribute__((no_sanitize("thread"))) { k(a...); }; } }
"""


def calls(program, tmp_path, compiler, text, *options):
    """The functions of the compiler's library that are called in front of accesses, and of what checks indices."""
    (tmp_path / "a.e").write_text(STUB_OF_LAUNCHES + text + "\n")
    done = run(program, *options, tmp_path / "a.e")
    assert done.returncode == 0, done.stderr
    (tmp_path / "a.ii").write_text(done.stdout)
    quiet = (["-mllvm", "-tsan-instrument-func-entry-exit=0"] if "clang" in compiler
             else ["--param", "tsan-instrument-func-entry-exit=0"])
    done = run(*compiler.split(), "-std=c++20" if "<typename T>(" in text else "-std=c++17", "-w", "-O1", "-fno-inline",
               "-fsanitize=thread,bounds", *quiet, "-c", tmp_path / "a.ii", "-o", tmp_path / "a.o")
    assert done.returncode == 0, done.stderr + (tmp_path / "a.ii").read_text()
    return re.findall(r" U (__tsan_\w*(?:read|write)\w*|__ubsan_\w+)", run("nm", tmp_path / "a.o").stdout)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", OF_THE_HOST)
def test_functions_of_the_host_are_not_watched(program, tmp_path, compiler, name):
    assert calls(program, tmp_path, compiler, OF_THE_HOST[name]), "without the option they are"
    assert not calls(program, tmp_path, compiler, OF_THE_HOST[name], "--plain-host")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", WATCHED)
def test_functions_that_device_code_can_call_are_watched(program, tmp_path, compiler, name):
    assert calls(program, tmp_path, compiler, WATCHED[name], "--plain-host")
