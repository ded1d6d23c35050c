"""Random kernels on arrays of global memory, of which many load or store past an end, at a wrong alignment, or what
nobody has written: which of them do is asked of memcheck and initcheck on a card, and of the simulator.

    program(21)     # the text of a program with KERNELS kernels, k0, k1, ...; its arguments are the numbers of
                    # those to launch
"""

import random

SEEDS = (21, 22, 23, 24)
KERNELS = 60
THREADS = 64
# bytes of no array behind each, or an access past its end might be one to the next, and memcheck could not tell
GAP = 4096

PLACES = ["i"] * 6 + [
    "i + 1", "i - 1", "2 * i", "n - 1 - i", "0", "i % n", "i ^ 1", "i / 2", "i + 4", "(i + 5) % 64", "63 - i", "n - 1",
    "i + i / 32"]
CONDITIONS = ["i < n"] * 3 + ["i + 1 < n", "i % 2 == 0", "i < 32", "i == 5", "i > 0", "i % 32 < 31"]
LENGTHS = [64, 64, 64, 65, 63, 60, 48, 96, 128]
# What an element is made of, and how an int becomes one.
SCALARS = {name: ([""], f"({name})i") for name in ("int", "float", "unsigned char", "short", "long long", "double")}
STRUCTURES = {
    "int2": ([".x", ".y"], "make_int2(i, 1)"), "float4": ([".x", ".y", ".z", ".w"], "make_float4(i, 1, 2, 3)"),
    "Point": ([".x", ".y", ".z"], "Point{i, 1, 2}")}
TYPES = {**SCALARS, **STRUCTURES}


def as_pointer_to(kind, array):
    return f"reinterpret_cast<{kind}*>({array})"


class Kernel:
    def __init__(self, draw, name):
        self.draw, self.type, self.name = draw, draw.choice(list(TYPES)), name
        self.lengths = {array: draw.choice(LENGTHS) for array in "ab"}
        lines = ["const int i = threadIdx.x;", "int r = 0;"]
        for _ in range(draw.randint(1, 3)):
            # Between two barriers, no thread stores what another loads: which comes first is never left open.
            lines += [self.statement(inside=False), "__syncthreads();"]
        self.text = "\n    ".join([f"__global__ void {name}({self.type}* a, {self.type}* b, int* out, int n)\n{{",
                                   *lines, "out[i] = r;"]) + "\n}\n"

    def place(self):
        return self.draw.choice(PLACES)

    def statement(self, inside):
        draw = self.draw
        array, other = draw.choice(["ab", "ba"])
        parts, value = TYPES[self.type]
        kinds = (["store"] * 4 + ["load"] * 6 + ["copy"] * 3 + ["wide", "byte", "shifted", "shifted"]
                 + (["add"] * 2 if self.type in ("int", "float") else []))
        kind = draw.choice(kinds + ([] if inside else ["if"] * 10 + ["loop"]))
        if kind == "store": return f"{array}[{self.place()}] = {value};"
        if kind == "load": return f"r += (int){array}[{self.place()}]{draw.choice(parts)};"
        if kind == "copy": return f"{array}[{self.place()}] = {other}[{self.place()}];"
        if kind == "add": return f"atomicAdd(&{array}[{self.place()}], ({self.type})1);"
        if kind == "wide": return (f"{{ const int4 v = {as_pointer_to('int4', array)}[{self.place()}]; r += v.x + v.y "
                                   f"+ v.z + v.w; }}")
        if kind == "byte": return f"r += {as_pointer_to('char', array)}[{self.place()}];"
        if kind == "shifted":
            bytes_of = f"{as_pointer_to('char', array)} + {draw.choice([1, 2, 4, 8])} * ({self.place()})"
            return f"r += *{as_pointer_to(draw.choice(['int', 'short', 'long long']), bytes_of)};"
        body = self.statement(inside=True)
        if kind == "if": return f"if ({draw.choice(CONDITIONS)}) {{ {body} }}"
        return f"for (int k = 0; k < 2; ++k) {{ {body} }}"

    def written(self, array):
        """Statements of the host that write an array, or a part of it, before the launch."""
        draw, length, size = self.draw, self.lengths[array], f"sizeof({self.type})"
        whole = f"{length} * {size}"
        return draw.choice([
            *[f"cudaMemset({array}, 1, {whole});"] * 4,
            "",
            f"cudaMemset({array}, 1, {length // 2} * {size});",
            f"cudaMemset({array}, 1, {whole} - {draw.choice([1, 2, 3, 5, 8])});",
            f"cudaMemset({as_pointer_to('char', array)} + {draw.choice([4, 16])}, 1, {whole} - 16);",
            f"cudaMemset2D({array}, 16, 1, {draw.choice([16, 8, 12])}, {whole} / 16);",
            f"cudaMemcpy({array}, host, {length - draw.choice([0, 0, 1, 7])} * {size}, cudaMemcpyHostToDevice);",
            f"fill<<<1, 64>>>({as_pointer_to('char', array)}, {whole}{draw.choice([' - 4', ''])}, "
            f"{draw.choice([1, 1, 2])});",
            f"cudaMemcpy({array}, half_written({whole}), {whole}, cudaMemcpyDeviceToDevice);",
        ])

    def launch(self):
        a, b = (f"{self.lengths[array]} * sizeof({self.type})" for array in "ab")
        return "\n    ".join([
            f"void launch_{self.name}()\n{{",
            f"{self.type} *a = array<{self.type}>({a}), *b = array<{self.type}>({b});",
            f"int* out = array<int>({THREADS} * sizeof(int));", *filter(None, map(self.written, "ab")),
            "free_all(gaps);", f"{self.name}<<<1, {THREADS}>>>(a, b, out, {self.lengths['a']});"]) + "\n}\n"


HEAD = f"""#include <cstdlib>
#include <vector>

struct Point {{ int x, y, z; }};

char host[{max(LENGTHS)} * sizeof(float4)];
std::vector<void*> arrays, gaps;

template <class T>
T* array(size_t bytes)
{{
    void *pointer, *gap;
    cudaMalloc(&pointer, bytes);
    cudaMalloc(&gap, {GAP});
    arrays.push_back(pointer);
    gaps.push_back(gap);
    return static_cast<T*>(pointer);
}}

void free_all(std::vector<void*>& pointers)
{{
    for (void* pointer : pointers) cudaFree(pointer);
    pointers.clear();
}}

char* half_written(size_t bytes)
{{
    char* pointer = array<char>(bytes);
    cudaMemset(pointer, 1, bytes / 2);
    return pointer;
}}

__global__ void fill(char* bytes, int n, int step)
{{
    for (int i = threadIdx.x * step; i < n; i += blockDim.x * step) bytes[i] = 1;
}}
"""


def program(seed):
    draw = random.Random(seed)
    kernels = [Kernel(draw, f"k{n}") for n in range(KERNELS)]
    body = "\n".join(kernel.text + "\n" + kernel.launch() for kernel in kernels)
    return f"""{HEAD}
{body}
void (*const launches[])() = {{{", ".join("launch_" + kernel.name for kernel in kernels)}}};

int main(int argc, char** argv)
{{
    cudaError_t error = cudaSuccess;
    for (int n = 1; n < argc && !error; ++n) {{
        launches[std::atoi(argv[n])]();
        error = cudaDeviceSynchronize();
        free_all(arrays);
    }}
    return error;
}}
"""
