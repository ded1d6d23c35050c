"""The reader of submissions (lab/source.py): the CUDA that it reads and refuses, as nvcc does, how long it takes, and
what it says.

NVCC_FORMS=1 also compiles each form with nvcc, about a second each."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import assert_refused
from grading import SOLUTION, STANDIN
from lessons import ROOT, run

sys.path[:0] = [str(ROOT / "lab")]

import check
import class_pages
import exports
import sandbox
import source

EXERCISE = check.load_exercises(STANDIN / "exercises.py").EXERCISES[4]
INCLUDE = '#include "../common/step.h"\n'
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
HEADERS = "#include <cuda_runtime.h>\n#include <cstddef>\n#include <cstdint>\n#include <cassert>\n"


def text_of(top="", kernel="", launcher="grid_kernel<float, 16><<<1, 32>>>(odata, idata, width);"):
    return INCLUDE + f"""{top}
template <typename T>
struct Four {{
    T element[16 / sizeof(T)];
}};
template <typename T, int N>
__global__ void grid_kernel(T* odata, const T* idata, int width)
{{
    int x = threadIdx.x;
    {kernel}
    odata[x] = idata[x];
}}
void launch(float* odata, const float* idata, int width)
{{
    {launcher}
}}
"""


def reasons(text):
    """The lines of a refusal, or []."""
    try:
        source.read(text.encode())
        return []
    except source.Refused as refused:
        return str(refused).split("\n")


V = "struct V { float a; };\n"

# {name: the arguments of text_of}. nvcc 13 accepts each of them.
ACCEPTED = {
    # Operators.
    "operator+ of a vector type": [
        "__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y, a.z, a.w); }",
        "float4 f = make_float4(1, 2, 3, 4); f = f + f; x += int(f.x);"],
    "operators of one operand": [V + "__device__ V operator+(V v) { return v; }\n__device__ V operator-(V v) { return "
                                     "V{-v.a}; }", "V v{1}; v = +v; v = -v; x += int(v.a);"],
    "operator= of a structure": ["struct V { float a; __device__ V& operator=(float f) { a = f; return *this; } };",
                                 "V v{1}; v = 3; x += int(v.a);"],
    "operator= outside the structure": [
        "struct V { float a; __device__ V& operator=(float f); };\n"
        "__device__ V& V::operator=(float f) { a = f; return *this; }", "V v{1}; v = 3; x += int(v.a);"],
    "operator= by default": ["struct V { float a; V& operator=(const V&) = default; };", "V v{1}, u{2}; v = u;"],
    "operators with assignment": [
        "struct V { float a; __device__ V& operator+=(V v) { a += v.a; return *this; } __device__ V& "
        "operator*=(float f) "
        "{ a *= f; return *this; } };", "V v{1}; v += v; v *= 2;"],
    "operators that compare": [
        "struct V { int a; __device__ bool operator==(V v) const { return a == v.a; } __device__ bool "
        "operator!() const "
        "{ return !a; } __device__ bool operator<=(V v) const { return a <= v.a; } };",
        "V v{1}; if (v == v and not !v and v <= v) x += 0;"],
    "operators that count": [
        "struct V { int a; __device__ V& operator++() { ++a; return *this; } __device__ V operator++(int) { V "
        "v = *this; "
        "++a; return v; } };", "V v{1}; ++v; v++;"],
    "operators of bits": [
        "struct M { int a; };\n__device__ M operator&(M a, M b) { return M{a.a & b.a}; }\n__device__ M "
        "operator|(M a, M "
        "b) { return M{a.a | b.a}; }\n__device__ M operator~(M a) { return M{~a.a}; }", "M m{1}; m = m & ~m | m;"],
    "operators of access": [
        "struct M { int a[4]; __device__ int& operator[](int i) { return a[i]; } __device__ int "
        "operator()(int i) const "
        "{ return a[i]; } __device__ operator int() const { return a[0]; } };", "M m{}; m[1] = m(2) + int(m);"],
    "operator of a template": [
        "template <typename T> struct Two { T a, b; };\ntemplate <typename T> __device__ Two<T> operator+(Two<T> a, "
        "Two<T> b) { return {a.a + b.a, a.b + b.b}; }", "Two<T> t{idata[x], idata[x]}; t = t + t;"],
    # Signs.
    "unary + of a name": ["", "int a = +x; x = a;"], "unary + of a call": ["", "int a = +int(threadIdx.x); x = a;"],
    "unary + of brackets": ["", "x = x * +(x + 1) - +x;"],
    "words for operators": ["", "if (x > 3 and x < 5 or not x) x = x bitand 3 bitor compl 4;"],
    # Launches.
    "a kernel in brackets": ["", "", "(grid_kernel<float, 16>)<<<1, 32>>>(odata, idata, width);"],
    "a kernel in brackets behind if": ["", "", "if (width > 3) (grid_kernel<float, 2 * 8>)<<<1, 32>>>(odata, idata, "
                                               "width); else (grid_kernel<float, 4>)<<<1, 1>>>(odata, idata, width);"],
    "a kernel in brackets without arguments": ["__global__ void plain(int n) {}", "", "(plain)<<<1, 32>>>(width);"],
    # The preprocessor.
    "a guard": ["#ifndef EXERCISE_04_H_\n#define EXERCISE_04_H_\nconstexpr int SIDE = 16;\n#endif", "x += SIDE;"],
    "a value that a command may give": ["#ifndef SIDE\n#define SIDE 16\n#endif", "x += SIDE;"],
    "#ifdef and #else": ["#define WIDE\n#ifdef WIDE\n#define SIDE 32\n#else\n#define SIDE 16\n#endif", "x += SIDE;"],
    "#if 0 with words": ["#if 0\nit's \"no code\nprintf(std::cout);\n#if 1\n#endif\n#else\nconstexpr int SIDE = 16;\n"
                         "#endif", "x += SIDE;"],
    "#if defined": ["#define A\n#if !defined(A)\nnothing\n#elif defined A\n#define B 3\n#endif", "x += B;"],
    "#if of a macro": ["#define FAST 1\n#if FAST\nconstexpr int SIDE = 16;\n#else\nconstexpr float SIDE = 1;\n#endif",
                       "x += SIDE;"],
    "conditions in a function": ["#define DEBUG 0", "\n#if DEBUG\nx = 3;\n#endif\nx += 0;"],
    # Names and types.
    "std::size_t": ["using std::size_t;", "std::size_t n = 3; std::uint32_t m(4); x += int(std::ptrdiff_t(n) + m);"],
    "names with accents": ["constexpr int gr\u00f6\u00dfe = 16;\n#define \u00e9t\u00e9 3",
                           "int \u5217 = gr\u00f6\u00dfe + \u00e9t\u00e9; x += \u5217;"],
    "constexpr static": ["constexpr static int SIDE = 16;", "constexpr static int a = 3; const static "
                                                            "constexpr int b = "
                                                            "4; static constexpr int c = 5; x += a + b + c + SIDE;"],
    "static shared": ["", "__shared__ static int a[32]; static __shared__ int b[32]; a[x] = b[x] = 0;"],
    "attributes": ["[[nodiscard]] __device__ int f([[maybe_unused]] int a) { return 1; }",
                   "[[maybe_unused]] int a = f(3); switch (x) { case 1: x = 2; [[fallthrough]]; default: x = 3; }"],
    "__restrict__": ["__device__ void f(float* __restrict__ a, const float* __restrict b) { a[0] = b[0]; }"],
    "warpSize in place of a macro": ["#define warpSize 32\nconstexpr int WARPS = 8 * warpSize;", "x += WARPS;"],
    "names of CUDA's in functions": ["namespace mine { constexpr int norm = 3, index = 2; }\nstruct norm3d { "
                                     "int y0; };",
                                     "int norm = mine::norm, y1 = 3, uint = 4; x += norm + y1 + uint;"],
    "types with the names that they have": ["using uint = unsigned;\nusing ulong = unsigned long;",
                                            "uint a = x; x = a;"],
    "functions with names of CUDA's": ["__device__ float norm(float a) { return a; }\ntemplate <typename T> "
                                       "__device__ T "
                                       "norm3d(T a) { return a; }", "x += int(norm(2.0f) + norm3d(3));"],
    "copies of built-in variables": ["__device__ int f(uint3 t) { return t.x; }", "uint3 t = threadIdx; dim3 "
                                     "b(blockDim); const auto& g = gridDim; x += f(threadIdx) + t.x & b.x && g.x;"],
    "bits of built-in variables": ["", "x = x & threadIdx.x; x = (x) & threadIdx.x; if (x && threadIdx.x) x = 3;"],
    "references": ["template <typename T> __device__ void f(T&& a, T const& b, T*&& c) {}", "auto&& r = x; r = 3;"],
    "__ldg of CUDA's types": ["", "T a = __ldg(idata + x); float4 f = __ldg((const float4*)idata); x += int(a) + "
                                  "int(f.x) + __ldg((const int*)idata);"],
    "initial values in a constructor": [
        "struct P { int a, b; __device__ P(int n) : a(n), b{n + 1} {} __device__ P(int* n) : a{n[0]}, b(*n) { "
        "n[1] = a; "
        "} };", "P p(3); x += p.a;"],
    "lambdas": ["", "auto f = [](int i) { return i + 1; }; auto g = [&] { return x; }; x = f(g()) + [] { "
                    "return 1; }();"],
    "an array without a length": ["", "const int a[] = {1, 2}; const int b[]{1, 2}; extern __shared__ int "
                                      "c[]; x += a[0] "
                                      "+ b[1]; c[x] = 1;"],
}

# {name: ([the arguments of text_of], what is said)}. nvcc 13 rejects each of them.
REFUSED = {
    "address of threadIdx": (["", "auto p = &threadIdx; x = p->x;"], "no address"),
    "address of its member": (["", "const unsigned* p = &blockIdx.x; x = *p;"], "no address"),
    "address in brackets": (["", "auto p = &(blockDim); x = p->x;"], "no address"),
    "address behind a cast": (["", "auto p = (unsigned*)&gridDim; x = *p;"], "no address"),
    "address of warpSize": (["", "auto p = (size_t)&warpSize; x = p;"], "no address"),
    "address as a word": (["", "auto p = bitand threadIdx; x = p->x;"], "no address"),
    "store through a cast": (["", "reinterpret_cast<uint3&>(threadIdx).x = 3;"], "cannot be written"),
    "address of a label": (["", "void* p = &&out; if (x < 0) x = (int)(size_t)p; out: x = 1;"], "label"),
    "address of a label in a call": (["__device__ int f(void*) { return 1; }", "x = f(&&out); out: x = 1;"], "label"),
    "a constant float4": (["constexpr int float4 = 3;"], "declare this name"),
    "a constant dim3": (["constexpr int A = 1, dim3 = 3;"], "declare this name"),
    "a constant size_t": (["static constexpr int size_t = 3;"], "declare this name"),
    "a function float4": (["__device__ int float4(int a) { return a; }"], "declare this name"),
    "an enumerator float4": (["enum E { A, float4 };"], "declare this name"),
    "a constant norm": (["constexpr int norm = 3;"], "declare this name"),
    "a constant y0": (["const int y0 = 3;"], "declare this name"),
    "a constant template norm": (["template <typename T> constexpr int norm = 3;"], "declare this name"),
    "a constant array index": (["__constant__ int index[2] = {1, 2};"], "declare this name"),
    "an enumerator norm": (["enum { norm = 3 };"], "declare this name"),
    "a type norm": (["using norm = int;"], "declare this name"),
    "a constant min": (["constexpr int min = 3;"], "declare this name"),
    "a constant threadIdx": (["constexpr int threadIdx = 3;"], "declare this name"),
}

# These nvcc accepts, and they would cross the border of the host or of code. {name: (arguments, what is said)}.
BARRED = {
    "* behind if": (["", "", "if (width) *odata = 1;"], "touches no memory"),
    "* behind while": (["", "", "while (width--) *odata;"], "touches no memory"),
    "* behind a block": (["", "", "{} *odata;"], "touches no memory"),
    "& as a word": (["", "", "auto p = bitand width;"], "touches no memory"),
    "a lambda outside functions": (["constexpr auto f = [](float* p) { p[0] = 1; };"], "a lambda outside"),
    "a lambda as a default": (["void f(float* p, int n = [](int) { return 1; }(2)) {}"], "a lambda outside"),
    "a member's initial value": (["struct S { float* p; float a = p[0]; };"], "initial value"),
    "a member's initial value in braces": (["struct S { float* p; float a{*p}; };"], "initial value"),
    "a constructor's initial value": (["struct S { float a; S(float* p) : a(p[0]) {} };"], "touches no memory"),
    "a constructor behind braces": (["struct S { float a; S(float* p) : a{0} { p[0] = 1; } };"], "touches no memory"),
    "a cast to a reference": (["", "((uint3&)threadIdx).x = 3;"], "cannot be written"),
    "a cast of a member to a reference": (["", "(unsigned&)blockIdx.x = 3;"], "cannot be written"),
    "+ of a lambda": (["", "auto p = +[](int i) { return i; };"], "pointer to a function"),
    "+ of a function": (["__device__ int f() { return 1; }", "auto p = +f;"], "no value"),
    "a function in brackets": (["__device__ int f() { return 1; }", "", "(f)<<<1, 1>>>();"], "only a kernel"),
    "a call in brackets": (["", "", "(width, grid_kernel<float, 16>)<<<1, 1>>>(odata, idata, width);"], "no value"),
    "std::abort": (["", "", "std::abort();"], "host code"), "std:: of a type": (["", "std::string s;"], "host code"),
    "another attribute": (["[[gnu::constructor]] void early() {}"], "no attributes"),
    "the compiler's macro": (["#ifdef __CUDA_ARCH__\n#endif"], "belongs to the compiler"),
    "#if of an expression": (["#if 2 > 1\n#endif"], "#if 0"), "#if without an end": (["#ifdef A"], "no #endif"),
    "#endif without #if": (["#endif"], "no #if"), "#else twice": (["#if 0\n#else\n#else\n#endif"], "an #else"),
    "#undef KERNEL": (["#undef KERNEL"], "leave the line out"), "#line": (["#line 3"], "use only"),
    "# in a line": (["int /*\n*/ # include <unistd.h>"], "begins a line"),
    "operator->": ([V + "struct P { V* v; __device__ V* operator->() { return v; } };"], "hides accesses"),
    "operator& of one operand": (["struct P { int a; __device__ int operator&() { return a; } };"], "hides accesses"),
    "operator,": ([V + "__device__ V operator,(V a, V b) { return a; }"], "hides accesses"),
    "names that become one": (["", "int a\u00e9 = 1; int a_ue9_ = 2;"], "too similar"),
}


@pytest.mark.parametrize("form", ACCEPTED)
def test_accepted(form):
    assert reasons(text_of(*ACCEPTED[form])) == []


def test_accepted_forms_compile(tmp_path):
    """All at once, each in a namespace."""
    grader, texts = check.Lab(), {form: source.read(text_of(*arguments).encode()).text
                                  for form, arguments in ACCEPTED.items()}
    text = "".join(f"namespace n{number} {{\n{text}\n}}\n" for number, text in enumerate(texts.values()))
    with sandbox.Box() as box:
        note = grader.compile(box, check.unpack(box, EXERCISE, "forms.cu", text.encode(), text), [])
        line = re.search(r"forms.cu:(\d+)", note)
        assert note == "", (note, line and text.split("\n")[int(line[1]) - 1])


@pytest.mark.parametrize("form", [*REFUSED, *BARRED])
def test_refused(form):
    arguments, words = {**REFUSED, **BARRED}[form]
    said = reasons(text_of(*arguments))
    assert len(said) == 1 and words in said[0] and re.match(r"line \d+: ", said[0]), said


def test_loads_of_a_structure_do_not_compile(tmp_path):
    """As for nvcc, whose __ldg takes CUDA's types only."""
    file = tmp_path / "ldg.cu"
    for code in ("struct F { T a, b; }; F f = __ldg(reinterpret_cast<const F*>(idata)); if (width < 0) odata[0] = f.a;",
                 "float3 f = __ldcs(reinterpret_cast<const float3*>(idata)); if (width < 0) odata[0] = f.x;"):
        file.write_text(SOLUTION.replace("    __shared__ T tile", f"    {code}\n    __shared__ T tile"))
        assert "of_a_type_that_cuda_loads" in check.Lab().check(EXERCISE, file)["note"]


def test_lambdas_become_no_pointers_to_functions(tmp_path):
    """Neither by a name: each has a capture in what is compiled."""
    file = tmp_path / "pointer.cu"
    for code in ("auto f = [](int i) { return i; }; auto p = +f; width += p(0);",
                 "auto f = [](int i) { return i; }; auto p = *f; width += p(0);",
                 "auto p = width ? [](int i) { return i; } : [](int i) { return i + 1; }; width = p(0);"):
        file.write_text(SOLUTION.replace("    __shared__ T tile", f"    {code}\n    __shared__ T tile"))
        note = check.Lab().check(EXERCISE, file)["note"]
        assert note.startswith("does not compile: pointer.cu:"), note


@pytest.mark.skipif(not NVCC or not os.environ.get("NVCC_FORMS"), reason="NVCC_FORMS=1 compiles the forms with nvcc")
@pytest.mark.parametrize("form", [*ACCEPTED, *REFUSED])
def test_forms_with_nvcc(form, tmp_path):
    arguments = ACCEPTED.get(form) or REFUSED[form][0]
    (tmp_path / "form.cu").write_text(text_of(*arguments).replace(INCLUDE, HEADERS), encoding="utf-8")
    done = run(NVCC, "-arch=sm_90", "-std=c++17", "-c", "form.cu", "-o", "/dev/null", cwd=tmp_path)
    assert (done.returncode == 0) == (form in ACCEPTED), done.stderr


# ---- Several reasons -------------------------------------------------------------------------------------------

def test_all_reasons_in_one_run():
    """In the order of the lines, one for each statement, and none that follows from another."""
    text = INCLUDE + r"""#include <cstdio>
#define SIDE 16;
#define CAT(a, b) a##b
int calls = 0;
struct Two { int a; }
constexpr int WIDTH = SIDE
__global__ void first(int* p, const int& n)
{
    printf("%d", n);
    int CAT(a, b) = std::max(1, 2), c = std::min(1, 2);
    try { p[0] = new int; } catch (int) { goto out; }
    int m = '12';
}
__global__ void second(int* p) { p[0] = 1; }
void launch(int* p) { second<<<1, WIDTH>>>(p); p[0] = 3; *p = 4; }
"""
    said = reasons(text)
    assert [re.match(r"line (\d+): (.*?):", line).groups() for line in said] == [
        ("2", "#include <cstdio>"), ("3", "#define SIDE"), ("4", "#"), ("5", "calls = 0"), ("6", "constexpr"),
        ("7", "16"), ("10", "printf"), ("12", "try"), ("12", "new"), ("12", "goto")], "\n".join(said)


@pytest.mark.parametrize("code, first", [
    ("void f() { int n = (3; }\nvoid g() { goto out; }", "line 2: (: not closed"),  # only words are looked at
    ("void f() { char* p = \"no end); }\nvoid g() { goto out; }", "line 2: '\"': close the string"),
    ("#if 1 + 1\nint a;\n#endif\nvoid g() { goto out; }", "line 2: #if"),
])
def test_a_broken_part_hides_no_words(code, first):
    said = reasons(INCLUDE + code)
    assert said[0].startswith(first) and "goto" in said[-1], said


def test_many_reasons():
    said = reasons(INCLUDE + "void f() {\n" + "goto out;\n" * 50 + "}")
    assert [line.split(":")[0] for line in said] == [f"line {n}" for n in range(3, 13)]


def test_notes_of_several_lines(tmp_path):
    """All of it for the student; the first line in tables."""
    file = tmp_path / "two.cu"
    file.write_text(SOLUTION.replace("    __shared__", "    goto <out>;\n    printf(0);\n    __shared__", 1))
    done = run(sys.executable, ROOT / "lab/check.py", "04", "--exercises", STANDIN / "exercises.py", "--file", file)
    first, second, total = done.stdout.splitlines()
    assert first.startswith("exercise 4: line") and re.match(r" {12}line \d+: printf", second) and "0 / 100" in total
    verdict = check.Lab().check(EXERCISE, file)
    note = verdict["note"].split("\n")
    assert len(note) == 2 and json.loads(json.dumps(verdict)) == verdict
    row = list(csv.DictReader(io.StringIO(exports.grades([("a", verdict)], None))))[0]
    assert row["note"] == f"{note[0]} (and 1 more)"
    assert exports.gradescope(verdict)["output"] == verdict["note"]
    assert exports.feedback(verdict).count("<br>") == 1 and "&lt;" not in exports.feedback(verdict).split("<br>")[1]
    page = class_pages.statistics_page(4, [("a", verdict)])
    assert "refused by the reader" in page and "(and 1 more)" in page and "printf" not in page


# ---- Time ------------------------------------------------------------------------------------------------------

def repeated(piece, size, before="", after=""):
    """A file in which macros repeat the piece, up to about `size` tokens."""
    tokens = len([t for t in source.tokens_of(piece, []) if t.kind != "line"])
    text, uses, count = INCLUDE + f"#define A0 {piece}\n", [], size // tokens
    for i in range(5):
        text += f"#define A{i + 1} {f'A{i} ' * 8}\n"
    for i in range(5, -1, -1):
        uses += [f"A{i}"] * (count // 8**i)
        count %= 8**i
    return (text + before + " ".join(uses) + after).encode()


# Each was quadratic, or would be with a rule that looks along the file.
GROWING = {
    "an honest file": lambda n: repeated("int a = b ( c , 3 ) ; ", n, "__device__ int b(int, int) {}\nvoid g() {", "}"),
    "a name declared at the end": lambda n: repeated("free +", n, "__device__ void g() { int a = ", "1; int free; }"),
    "a name never declared": lambda n: repeated("free ;", n, "__device__ void g() { ", "}"),
    "__shared__": lambda n: repeated("__shared__", n, "__device__ void g() { ", " int a; }"),
    "references": lambda n: repeated("__shared__ &", n, "__device__ void g() { ", " int a; }"),
    "<": lambda n: repeated("a <", n, "__device__ void g() { int a; x = ", " 1; }"),
    "> *": lambda n: repeated("a > * a", n, "void g() { int a; x = ", " 1; }"),
    "functions <": lambda n: repeated("f <", n, "template <int N> __device__ int f() {}\nvoid g() { x = ", " 1; }"),
    "constants": lambda n: repeated("const int a = 1 ;", n), "variables": lambda n: repeated("int a ;", n),
    "braces": lambda n: repeated("{ }", n, "int a ", ";"), "braces without end": lambda n: repeated("{ }", n, "int a "),
    "brackets": lambda n: repeated("( )", n, "constexpr int a = ", ";"),
    "brackets of a function": lambda n: repeated("( )", n, "int a ", ";"),
    "members": lambda n: repeated("int a = 1 ;", n, "struct S { ", "};"),
    "structures": lambda n: repeated("struct S { int a; } ;", n), "no structures": lambda n: repeated("struct", n),
    "namespaces": lambda n: repeated("namespace", n), "templates": lambda n: repeated("template <", n),
    "operators": lambda n: repeated("operator", n, "int "), "kernels": lambda n: repeated("( k ) <<<", n, "void g() {"),
    "casts": lambda n: repeated("( const const const ) *", n, "void g() { x = ", " 1; }"),
    "lambdas": lambda n: repeated("[ ] ( ) { }", n, "constexpr int a = ", ";"),
    "built-in variables": lambda n: repeated("( threadIdx", n, "__device__ void g() {"),
}


def work_of(data):
    """How many lines of source.py run. Their number is the same in each run."""
    lines = 0

    def count(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename != source.__file__:
            return None
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        source.read(data)
    except source.Refused:
        pass
    finally:
        sys.settrace(None)
    return lines


@pytest.mark.parametrize("how", GROWING)
def test_work_grows_with_the_length(how):
    small, large = (work_of(GROWING[how](size)) for size in (1000, 4000))
    assert large < 4.5 * small, (small, large)


@pytest.mark.parametrize("how", GROWING)
def test_no_file_takes_long(how):
    """Of the most tokens that are read. Of a processor: others may be at work here, too."""
    start = time.process_time()
    reasons(GROWING[how](60000).decode())
    assert time.process_time() - start < 4


LONG = {
    "splices": INCLUDE + "\\\n" * 30000, "comments": INCLUDE + "/**/" * 15000, "a number": "0x" + "f" * 60000 + "z",
    "an argument used often": INCLUDE + f"#define F(x) {'x ' * 15000}\nF({'1 ' * 15000})",
    "arguments in arguments": INCLUDE + "#define F(x) x\n" + "F(" * 700 + "1 " * 20000 + ")" * 700,
    "arguments without an end": INCLUDE + "#define F(x) x\n" + "F(" * 20000,
    "a long name used often": INCLUDE + f"#define A {'a' * 20000}\nint " + "A " * 20000,
    "a long name in pragmas": INCLUDE + f"#define A {'a ' * 9}{'a' * 20000}\n" + "#pragma unroll A\n" * 2000,
    "quotes": INCLUDE + "\"\n'" * 20000, "words": INCLUDE + "goto " * 12000, "lines": "\n" * 65000,
    "directives": INCLUDE + "#if 1\n" * 10000, "definitions": "".join(f"#define A{i} A{i - 1}\n" for i in range(3500)),
    "underlines": INCLUDE + "_" * 60000,
}


@pytest.mark.parametrize("how", LONG)
def test_no_bytes_take_long(how):
    start = time.process_time()
    said = reasons(LONG[how])
    assert time.process_time() - start < 4 and all(len(line) < 400 for line in said), said


def test_a_reader_that_takes_too_long(tmp_path, monkeypatch):
    """It is ended, and its file is refused."""
    file = tmp_path / "long.cu"
    file.write_text(SOLUTION)
    grader = check.Lab()
    monkeypatch.setattr(check, "READ", {**check.READ, "cpu": 1})
    monkeypatch.setattr(check, "READER", "while True: pass")
    verdict = grader.check(EXERCISE, file)
    assert verdict["note"] == "the file takes too long to read; simplify it" and verdict["total"] == 0
    assert class_pages.kind_of(verdict) == "refused by the reader"
    monkeypatch.setattr(check, "READER", "1 / 0")
    with pytest.raises(RuntimeError, match="the reader failed: ZeroDivisionError"):
        grader.check(EXERCISE, file)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("program", ["check", "grade"])
def test_signals_end_the_reader(program, number, tmp_path):
    """At once, where it would take minutes."""
    (tmp_path / "class").mkdir()
    file = tmp_path / "class/long.cu"
    file.write_text(SOLUTION)
    arguments = {"check": ["04", "--file", str(file)],
                 "grade": [str(file.parent), "--exercise", "4", "--results", str(tmp_path / "results")]}[program]
    code = (f"import sys; sys.path.insert(0, {str(ROOT / 'lab')!r}); import check, grade, sandbox\n"
            "check.READER, check.READ['cpu'] = 'while True: pass', 100\n"
            f"sys.argv[1:] = [*{arguments!r}, '--exercises', {str(STANDIN / 'exercises.py')!r}]\n"
            "read = check.read_apart\ndef reads(*others):\n    print('reads', flush=True)\n    return read(*others)\n"
            "check.read_apart = reads\n"
            f"try: sys.exit({program}.main())\nexcept sandbox.Interrupted: sys.exit(130)\n")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "reads\n"
    time.sleep(0.5)
    process.send_signal(number)
    said, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and errors == "", (said, errors)


def test_a_signal_is_no_refusal(tmp_path):
    assert_refused(run(sys.executable, ROOT / "lab/check.py", "04", "--file", tmp_path / "none.cu"), 2, "none.cu")
