"""Accesses that the hooks are not told of earn nothing, however disguised: an index far outside an object that
the compiler knows, and that no other thread can write. The second witness sees them (mk/witness.mk)."""

import pytest

from grading import check
from samples import ALL

EXERCISE = 2
# Each element of odata is stored in its order, after a load in this order, so that a copy is counted. The right value
# comes from the disguised load.
TEXT = """#include "../common/step.h"
$top
template <typename T>
__global__ void transposePatches(T* odata, const T* idata, int width, int height)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    $declared
    if (c < height && r < width) {
        T v = idata[size_t(r) * height + c];
        size_t base = reinterpret_cast<size_t>($address);
        size_t i = (reinterpret_cast<size_t>(idata + size_t(c) * width + r) - base) / 4;
        reinterpret_cast<unsigned*>(&v)[0] = $load;
        if (sizeof(T) == 8) { ++i; reinterpret_cast<unsigned*>(&v)[1] = $load; }
        odata[size_t(r) * height + c] = v;
    }
}
template <typename T>
void launchPatches(T* odata, const T* idata, int width, int height)
{
    transposePatches<T><<<dim3((height + 31) / 32, (width + 7) / 8), dim3(32, 8)>>>(odata, idata, width, height);
}
KERNEL(transposePatches, "-", transposes, launchPatches)
"""
NUMBERS = "{1, 2, 5, 10, 17, 26, 37, 50}"
ROWS = "{{1, 2, 5, 10}, {17, 26, 37, 50}}"
# name: (outside functions, in the kernel, the address of the object, the load at index i)
FORMS = {
    "constexpr": (f"constexpr unsigned X[8] = {NUMBERS};", "", "&X", "X[i]"),
    "const": (f"const unsigned X[8] = {NUMBERS};", "", "&X", "X[i]"),
    "static_const": ("", f"static const unsigned X[8] = {NUMBERS};", "&X", "X[i]"),
    "static_constexpr": ("", f"static constexpr unsigned X[8] = {NUMBERS};", "&X", "X[i]"),
    "local_constexpr": ("", f"constexpr unsigned X[8] = {NUMBERS};", "&X", "X[i]"),
    "local_const": ("", f"const unsigned X[8] = {NUMBERS};", "&X", "X[i]"),
    "array_of_rows": (f"constexpr unsigned X[2][4] = {ROWS};", "", "&X", "X[0][i]"),
    "row_index": (f"constexpr unsigned X[2][4] = {ROWS};", "", "&X", "X[i / 4][i % 4]"),
    "swapped": (f"constexpr unsigned X[8] = {NUMBERS};", "", "&X", "i[X]"),
    "sum": (f"constexpr unsigned X[8] = {NUMBERS};", "", "&X", "*(X + i)"),
    "far_sum": (f"constexpr unsigned X[8] = {NUMBERS};", "", "&X", "(&X[0])[i]"),
    "rows_of_it": (f"constexpr unsigned X[8] = {NUMBERS};", "", "&X", "(&X)[i / 8][i % 8]"),
    "member": (f"struct S {{ unsigned v[8]; }}; constexpr S X = {{{NUMBERS}}};", "", "&X", "X.v[i]"),
    "member_of_array": ("struct S { unsigned v[2]; }; constexpr S X[2] = {{1, 2}, {3, 4}};", "", "&X",
                        "X[i / 2].v[i % 2]"),
    "static_member": (f"struct S {{ static constexpr unsigned v[8] = {NUMBERS}; }};", "", "&S::v", "S::v[i]"),
    "template_variable": (f"template <typename U> constexpr U X[8] = {NUMBERS};", "", "&X<unsigned>", "X<unsigned>[i]"),
    "inline": (f"inline constexpr unsigned X[8] = {NUMBERS};", "", "&X", "X[i]"),
    "longer": (f"constexpr unsigned X[8] = {NUMBERS};", "", "&X",
               "reinterpret_cast<const unsigned (&)[1ull << 60]>(X)[i]"),
    "of_structures": (f"struct S {{ unsigned n; }}; constexpr unsigned X[8] = {NUMBERS};", "", "&X",
                      "reinterpret_cast<const S (&)[8]>(X)[i].n"),
    "string": ("", "", "&\"a string of some length\"",
               "reinterpret_cast<const unsigned (&)[4]>(\"a string of some length\")[i]"),
    "aligned": (f"alignas(64) constexpr unsigned X[8] = {NUMBERS};", "", "&X", "X[i]"),
    "union": (f"union S {{ unsigned v[8]; char c; }}; constexpr S X = {{{NUMBERS}}};", "", "&X", "X.v[i]"),
    "reference": (f"constexpr unsigned X[8] = {NUMBERS};", "const unsigned (&y)[8] = X;", "&X", "y[i]"),
    "pointer": (f"constexpr unsigned X[8] = {NUMBERS};", "const unsigned* const y = X;", "&X", "y[i]"),
    "parameter": (f"constexpr unsigned X[8] = {NUMBERS}; __device__ unsigned at(const unsigned (&x)[8], size_t i) "
                  "{ return x[i]; }", "", "&X", "at(X, i)"),
    "function": (f"__device__ unsigned at(size_t i, size_t* a) {{ static const unsigned X[8] = {NUMBERS}; "
                 "*a = reinterpret_cast<size_t>(&X); return X[a == &i ? 0 : i]; }",
                 "size_t where; at(0, &where);", "where", "at(i, &where)"),
    "lambda": (f"constexpr unsigned X[8] = {NUMBERS};", "auto at = [](size_t i) { return X[i]; };", "&X", "at(i)"),
    "method": (f"struct S {{ unsigned v[8]; __device__ constexpr unsigned at(size_t i) const {{ return v[i]; }} }}; "
               f"constexpr S X = {{{NUMBERS}}};", "", "&X", "X.at(i)"),
    "conditional": (f"constexpr unsigned X[8] = {NUMBERS}, Y[8] = {NUMBERS};", "", "&X", "(i ? X : Y)[i]"),
    "threadIdx": ("", "", "&threadIdx", "reinterpret_cast<const unsigned (&)[8]>(threadIdx)[i]"),
    "gridDim": ("", "", "&gridDim", "reinterpret_cast<const unsigned (&)[8]>(gridDim)[i]"),
    "own_variable": ("", "unsigned mine = 1;", "&mine", "(&mine)[i]"),
    "own_array": ("", "unsigned mine[4] = {1};", "&mine", "mine[i]"),
    "own_structure": ("struct S { unsigned v[4]; };", "S mine = {};", "&mine", "mine.v[i]"),
    "argument": ("", "", "&width", "reinterpret_cast<const unsigned (&)[4]>(width)[i]"),
    "bytes": ("constexpr unsigned char X[8] = {1, 2};", "", "&X",
              "X[4 * i] | X[4 * i + 1] << 8 | X[4 * i + 2] << 16 | unsigned(X[4 * i + 3]) << 24"),
    "halves": ("constexpr unsigned short X[8] = {1, 2};", "", "&X", "X[2 * i] | unsigned(X[2 * i + 1]) << 16"),
    "volatile": (f"const volatile unsigned X[8] = {NUMBERS};", "", "&X", "X[i]"),
    "wide": ("constexpr uint4 X[2] = {};", "", "&X", "X[i / 4].x + (i % 4 ? X[i / 4].y : 0) * 0"),
    "shared": ("", "__shared__ unsigned X[8];", "&X", "X[i]"),
}
QUICK = ("static_constexpr", "member", "longer", "string", "bytes")


def text_of(name):
    text = TEXT
    for word, code in zip(("top", "declared", "address", "load"), FORMS[name]):
        text = text.replace(f"${word}", code)
    return text


@pytest.mark.parametrize("name", FORMS if ALL else QUICK)
def test_a_disguised_load_earns_nothing(name, tmp_path):
    file = tmp_path / f"{name}.cu"
    file.write_text(text_of(name))
    verdict = check.Lab().check(check.load_exercises().EXERCISES[EXERCISE], file)
    assert verdict["total"] < 40, verdict
