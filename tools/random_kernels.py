#!/usr/bin/env python3
"""Random kernels, whose counts, faults and races a card, an oracle and the simulator judge.

usage: python3 tools/random_kernels.py MODE SEED

Prints a program. It launches the kernels whose numbers are its arguments, or all. Modes:

  counts  Nsight Compute counts the accesses. nvcc has no occasion to make one access of several: no array is loaded
          twice at one index, the arms of a branch access different types, no condition is tested twice, loops are not
          unrolled, structures are loaded and stored whole, and every loaded value flows into a stored one. The sums are
          exact in any order of the threads, so the checksum that is printed is that of every machine.
  memory  Kernels on arrays of global memory. Many access past an end, at a wrong alignment, or what was never written:
          memcheck and initcheck say which.
  races   Kernels whose threads share the array of a block, with barriers or without: racecheck says which race.
  right   Kernels that are right by construction, however their threads share memory. Between two barriers, each word
          has one owner, or one statement that stores one value there, or is only read. None has a finding.
  orders  Kernels of a few threads with barriers, fences, signals and atomic operations. The oracle races() keeps every
          access and compares all pairs.

tools/gpu_plain.py asks the card. The tests compare its answers, in tests/data, with the simulator's.
"""

import random
import sys

import lessons  # noqa: F401 (it adds the folder of the next)
import command_line

SEEDS = {"counts": (31, 1207), "memory": (21, 22, 23, 24), "races": (11, 12, 13, 14), "orders": range(21, 41),
         "right": range(51, 101)}
KERNELS = {"counts": 120, "memory": 60, "races": 100, "orders": 200, "right": 40}


# counts

CLASSES = ["straight", "branches", "uniform loops", "divergent loops"]  # in turns
MOST = 1024  # threads of a launch
TURNS = 6  # of a loop, at most
LENGTH = 8192  # of an input
HASH = "2654435761u"
# name: its members, and what they are made of
COUNTED = {
    **{name: ([""], name) for name in ("char", "short", "int", "float", "double")},
    "float2": ([".x", ".y"], "float"), "float4": ([".x", ".y", ".z", ".w"], "float"),
    "double2": ([".x", ".y"], "double"), "int4": ([".x", ".y", ".z", ".w"], "int"),
    "Vector": ([".x", ".y", ".z"], "float"), "Moments": ([".mean", ".spread", ".slope"], "double"),
    "Entry": ([".key", ".value", ".from", ".to"], "int")}


def indented(lines):
    return ["    " + line for line in lines]


class Counts:
    def __init__(self, draw, number):
        self.draw, self.name, self.kind = draw, f"k{number}", CLASSES[number % len(CLASSES)]
        self.block = draw.choice([32, 64, 96, 128, 192, 256, 20, 33, 100, 250])
        self.threads = self.block * draw.randint(1, min(5, MOST // self.block))
        self.limit = self.threads - draw.choice([0, 0, 1, 5, 17])
        self.outputs, self.used, self.turn, self.types = [], 0, "", list(COUNTED)
        self.conditions = {
            "bit": f"lane & {draw.choice([1, 2, 8])}", "third": f"lane % 3 == {draw.randint(0, 2)}",
            "range": draw.choice(["lane < 13", "lane >= 20"]), "warp": f"((lane ^ warp) & {draw.choice([1, 2, 4])})",
            "hash": f"(t * {HASH} >> 16) % 3 == {draw.randint(0, 2)}", "block": "blockIdx.x % 2 == 0",
            "half": f"tid < {self.block // 2 + 3}", "value": f"acc > {draw.choice([20, 40])}"}
        shared = draw.choice([None, *COUNTED])
        declared = [f"__shared__ {shared} s[{self.block}];", f"s[{self.shuffled()}] = {self.load(shared)};",
                    "__syncthreads();"] if shared else []
        self.shared, lines = shared, [f"acc += total({self.in_shared()});"] if shared else []
        for _ in range(draw.randint(2, 5) if self.kind == "straight" else draw.randint(0, 1)): lines += self.statement()
        for _ in range(draw.randint(1, 2)):
            lines += {"straight": self.statement, "branches": lambda: self.branch(1)}.get(self.kind, self.loop)()
        lines.append(self.store("made<{}>(acc)"))
        guarded = [f"if (t < {self.limit}) {{", *indented(lines), "}"] if self.limit < self.threads else lines
        self.inputs = [type for type in COUNTED if f"in_{type}[" in " ".join(declared + lines)]
        parameters = [*(f"const {type}* in_{type}" for type in self.inputs),
                      *(f"{type}* out{n}" for n, (type, _) in enumerate(self.outputs)), "unsigned turns"]
        self.text = "\n    ".join([
            f"__global__ void {self.name}({', '.join(parameters)})\n{{",
            "const unsigned tid = threadIdx.x, t = blockIdx.x * blockDim.x + tid, lane = tid % 32, warp = tid / 32;",
            "float acc = lane + warp;", *declared, *guarded]) + "\n}\n"

    def host(self):
        arguments = [*(f"input<{type}>()" for type in self.inputs), *(f"out{n}" for n in range(len(self.outputs)))]
        return [*(f"{type}* out{n} = output<{type}>({length});" for n, (type, length) in enumerate(self.outputs)),
                f"{self.name}<<<{self.threads // self.block}, {self.block}>>>({', '.join(arguments)}, "
                f"{3 + self.limit % 4}u);", f'finish("{self.name}");']

    # Indices

    def fresh(self):
        """A number that no other access of the kernel has."""
        self.used += self.draw.choice([1, 2, 3])
        return self.used

    def anywhere(self):
        c, draw = self.fresh(), self.draw
        place = draw.choice([
            f"t + {c}", f"t * {draw.choice([2, 3, 5])} + {c}", f"{MOST + c} - t",
            f"((t + {c}) * {HASH} >> {draw.choice([20, 22])})", f"(t * {draw.choice([5, 33, 97])} + {c}) % {MOST}",
            f"t % 32 * 32 + t / 32 + {c}", f"(t ^ {c})", f"t / {draw.choice([2, 4, 8])} + {c}",
            f"t / 8 * 2 + t % 3 + {c}"])
        return place + (f" + k * {draw.choice([1, 32, 97])}" if self.turn else "")

    def own(self):
        """An index that no other thread has, and the length that this takes."""
        draw, c = self.draw, self.draw.randint(1, 63)
        place, length = draw.choice([
            ("t", MOST), ("t", MOST), (f"{MOST - 1} - t", MOST), (f"(t ^ {c})", MOST), (f"t * 33 % {MOST}", MOST),
            (f"(t * 2 + {c % 2})", 2 * MOST), (f"(t * 3 + {c % 3})", 3 * MOST), (f"(t + {c})", MOST + 64)])
        return (f"{place} + k * {length}", TURNS * length) if self.turn else (place, length)

    def shuffled(self):
        return self.draw.choice(["tid", f"{self.block - 1} - tid",
                                 *(f"tid * {m} % {self.block}" for m in (7, 3, 11) if self.block % m)])

    def in_shared(self):
        c, k, block = self.fresh(), " + k" if self.turn else "", self.block
        return "s[" + self.draw.choice([
            f"(tid + {c}{k}) % {block}", f"(tid * {self.draw.choice([3, 5, 9, 17])} + {c}{k}) % {block}",
            f"(tid / {self.draw.choice([2, 4, 8])} + {c}{k}) % {block}",
            f"((tid + {c}{k}) * {HASH} >> 16) % {block}"]) + "]"

    # Statements

    def load(self, type):
        return f"in_{type}[{self.anywhere()}]"

    def target(self, type, place=None):
        place, length = place or self.own()
        self.outputs.append((type, length))
        return f"out{len(self.outputs) - 1}[{place}]"

    def store(self, value):
        type = self.draw.choice(self.types)
        return f"{self.target(type)} = {value.format(type)};"

    def statement(self):
        draw, type = self.draw, self.draw.choice(self.types)
        kind = draw.choice(["load"] * 3 + ["store", "copy", "atomic", "ticket"] + ["shared"] * 3 * (
            self.shared in self.types))
        if kind == "load": return [f"acc += {draw.choice([1, 2, 3])} * total({self.load(type)});"]
        if kind == "store": return [self.store(f"made<{{}}>(acc + {draw.randint(1, 9)})")]
        if kind == "copy": return [f"{self.target(type)} = {self.load(type)};"]
        if kind == "shared": return [f"acc += total({self.in_shared()});"]
        of = draw.choice(["int", "unsigned", "float"])
        if kind == "ticket":  # an address of this thread alone, and the result is used
            return [f"acc += (float)atomicAdd(&{self.target(of)}, ({of})(lane + 1));"]
        k = " + k" if self.turn else ""  # an address of several threads, but not of all lanes of a warp
        at = draw.choice([f"(t{k}) % {draw.choice([7, 32, 48])}", f"((t{k}) * {HASH} >> 27)", f"(t * 3{k}) % 61"])
        call = "atomicAdd" if of == "float" else draw.choice(["atomicAdd", "atomicMax", "atomicOr", "atomicXor"])
        return [f"{call}(&{self.target(of, (at, 64))}, ({of})({draw.choice(['lane % 5 + 1', 't / 7 + 1'])}));"]

    def arm(self, types, depth):
        before, self.types = self.types, types
        lines = [line for _ in range(self.draw.randint(1, 2)) for line in self.statement()]
        if depth and self.draw.random() < 0.4: lines += self.branch(depth - 1)
        self.types = before
        return indented(lines)

    def branch(self, depth):
        condition = self.conditions.pop(self.draw.choice(sorted(self.conditions)), None) if self.conditions else None
        made_of = sorted({COUNTED[type][1] for type in self.types})
        if not condition: return self.statement()
        if len(made_of) < 2 or self.draw.random() < 0.5:
            return [f"if ({condition}) {{", *self.arm(self.types, depth), "}"]
        self.draw.shuffle(made_of)
        arms = [[type for type in self.types if COUNTED[type][1] in made_of[n::2]] for n in (0, 1)]
        return [f"if ({condition}) {{", *self.arm(arms[0], depth), "} else {", *self.arm(arms[1], depth), "}"]

    def loop(self):
        draw, before = self.draw, []
        if self.kind == "uniform loops":
            turns = draw.choice(["turns", "turns", f"{draw.randint(2, TURNS)}"])
        else:
            turns = draw.choice([f"lane % {draw.choice([3, 5])} + 1", f"(t * {HASH} >> 29) % 6", "t % 4 + 2",
                                 "(lane ^ warp) % 6", f"{TURNS}"])
            if turns == f"{TURNS}": before = [f"if ((t * 3 + k) % 5 == 4) {draw.choice(['break', 'continue'])};"]
        self.turn = "k"
        lines = [line for _ in range(draw.randint(1, 3)) for line in self.statement()]
        if draw.random() < 0.3: lines += self.branch(0)
        self.turn = ""
        return ["#pragma unroll 1", f"for (unsigned k = 0; k < {turns}; ++k) {{", *indented([*before, *lines]),
                "}"]


COUNTS_HEAD = f"""
struct Vector {{ float x, y, z; }};
struct __align__(16) Entry {{ int key, value, from, to; }};
struct Moments {{ double mean, spread, slope; }};

template <typename T>
__host__ __device__ T made(float s);

{"".join(f'''__host__ __device__ float total({name} v) {{ return {" + ".join(f"(float)v{m}" for m in members)}; }}
template <> __host__ __device__ {name} made(float s)
{{
    return {{{", ".join(f"({kind})((int)s + {n})" for n, _ in enumerate(members))}}};
}}
''' for name, (members, kind) in COUNTED.items())}
unsigned mixed(unsigned x)
{{
    x = (x ^ x >> 16) * 0x7feb352du;
    return x ^ x >> 15;
}}

// An array of small integers.
template <typename T>
const T* input()
{{
    static T* data;
    if (data) return data;
    std::vector<T> values;
    for (unsigned n = 0; n < {LENGTH}; ++n) values.push_back(made<T>(mixed(n) % 9));
    check(cudaMalloc(&data, sizeof(T) * {LENGTH}));
    inputs.push_back(data);
    check(cudaMemcpy(data, values.data(), sizeof(T) * {LENGTH}, cudaMemcpyHostToDevice));
    return data;
}}

std::vector<size_t> sizes;  // of arrays

template <typename T>
T* output(size_t length)
{{
    T* data = array<T>(sizeof(T) * length);
    sizes.push_back(sizeof(T) * length);
    check(cudaMemset(data, 0, sizes.back()));
    return data;
}}

// Prints the checksum of the kernel's outputs.
void finish(const char* kernel)
{{
    check(cudaDeviceSynchronize());
    unsigned sum = 2166136261u;
    for (size_t n = 0; n < arrays.size(); ++n) {{
        std::vector<unsigned char> values(sizes[n]);
        check(cudaMemcpy(values.data(), arrays[n], sizes[n], cudaMemcpyDeviceToHost));
        for (unsigned char value : values) sum = (sum ^ value) * 16777619u;
    }}
    sizes.clear();
    std::printf("%s,%08x\\n", kernel, sum);
}}
"""


# memory

LENGTHS = [64, 64, 64, 65, 63, 60, 48, 96, 128]
PLACES = ["i"] * 6 + [
    "i + 1", "i - 1", "2 * i", "n - 1 - i", "0", "i % n", "i ^ 1", "i / 2", "i + 4", "(i + 5) % 64", "63 - i", "n - 1",
    "i + i / 32"]
CONDITIONS = ["i < n"] * 3 + ["i + 1 < n", "i % 2 == 0", "i < 32", "i == 5", "i > 0", "i % 32 < 31"]
# The members of a type, and how an int becomes one.
TYPES = {
    **{name: ([""], f"({name})i") for name in ("int", "float", "unsigned char", "short", "long long", "double")},
    "int2": ([".x", ".y"], "make_int2(i, 1)"), "float4": ([".x", ".y", ".z", ".w"], "make_float4(i, 1, 2, 3)"),
    "Point": ([".x", ".y", ".z"], "Point{i, 1, 2}")}


def as_pointer_to(kind, array):
    return f"reinterpret_cast<{kind}*>({array})"


class Memory:
    def __init__(self, draw, number):
        self.draw, self.type, self.name = draw, draw.choice(list(TYPES)), f"k{number}"
        self.lengths = {array: draw.choice(LENGTHS) for array in "ab"}
        lines = ["const int i = threadIdx.x;", "int r = 0;"]
        for _ in range(draw.randint(1, 3)):
            # Between two barriers, no thread stores what another loads: which comes first is never left open.
            lines += [self.statement(inside=False), "__syncthreads();"]
        self.text = "\n    ".join([f"__global__ void {self.name}({self.type}* a, {self.type}* b, int* out, int n)\n{{",
                                   *lines, "out[i] = r;"]) + "\n}\n"

    def host(self):
        a, b = (f"{self.lengths[array]} * sizeof({self.type})" for array in "ab")
        return [f"{self.type} *a = array<{self.type}>({a}), *b = array<{self.type}>({b});",
                "int* out = array<int>(64 * sizeof(int));", *filter(None, map(self.written, "ab")), "free_all(gaps);",
                f"{self.name}<<<1, 64>>>(a, b, out, {self.lengths['a']});"]

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


MEMORY_HEAD = f"""
struct Point {{ int x, y, z; }};

char host[{max(LENGTHS)} * sizeof(float4)];

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


# races

SHARED_PLACES = ["t", "t / 2", "(t + 1) % 64", "0", "t % 32", "t ^ 1", "t * 3 % 64", "63 - t", "t / 32", "t & ~3",
                 "t ^ 32"]
VALUES = ["t", "1", "t / 2", "t / 32", "t % 2", "r", "2"]
SHARED_CONDITIONS = ["t < 32", "t % 2 == 0", "t == 0", "t / 32 == 1", "t % 32 == 5", "t < 48"]


class Races:
    def __init__(self, draw, number):
        self.name, self.draw, self.stored = f"k{number}", draw, []
        self.type = draw.choice(["int", "int", "int", "unsigned char", "short", "long long"])
        lines = [f"__shared__ {self.type} s[64];", "const int t = threadIdx.x;", "int r = 0;", "s[t] = t;",
                 "__syncthreads();"]
        for _ in range(draw.randint(1, 3)):
            lines.append(self.statement(inside=False))
            if draw.random() < 0.5:
                lines.append("__syncthreads();")
                self.stored.clear()
        self.text = "\n    ".join([f"__global__ void {self.name}(int* out)\n{{", *lines, "out[t] = r;"]) + "\n}\n"

    def host(self):
        return [f"{self.name}<<<1, 64>>>(array<int>(64 * sizeof(int)));"]

    def place(self):
        return self.draw.choice(SHARED_PLACES)

    def target(self, other_than=()):
        """Where to store. Not where this thread has stored before: compilers leave out all but the last of such
        stores."""
        place = self.draw.choice([p for p in SHARED_PLACES if p not in self.stored and p not in other_than])
        self.stored.append(place)
        return place

    def statement(self, inside):
        kinds = (["store"] * 6 + ["load"] * 5 + ["copy"] * 2 + (["add"] if self.type == "int" else [])
                 + ([] if inside else ["warp"] * 2 + ["if"] * 2 + ["loop"]))
        kind = self.draw.choice(kinds)
        if kind == "store": return f"s[{self.target()}] = {self.draw.choice(VALUES)};"
        if kind == "load": return f"r += s[{self.place()}];"
        if kind == "add": return f"atomicAdd(&s[{self.place()}], {self.draw.choice(['1', 't'])});"
        if kind == "warp": return "__syncwarp();"
        if kind == "copy":
            place = self.place()
            return f"s[{self.target([place])}] = s[{place}];"
        body = " ".join(self.statement(inside=True) for _ in range(self.draw.randint(1, 2)))
        if kind == "if":
            return (f"if ({self.draw.choice(SHARED_CONDITIONS)}) {{ {body} }}"
                    + (f" else {{ {self.statement(inside=True)} }}" if self.draw.random() < 0.4 else ""))
        return f"for (int k = 0; k < 2; ++k) {{ {body}{' __syncthreads();' if self.draw.random() < 0.5 else ''} }}"


# orders
#
# The threads are lanes 0, 1 and 2 of two warps, in one or two blocks. A step is a barrier, or one thread's load or
# store of a word, plain, volatile or atomic, or a fence in front of a signal. The oracle runs the steps in the order of
# the simulator: block after block, in a block warp after warp, in a warp lane after lane, each up to where it waits.
# Each thread has a clock for every thread. The verdict is None where it depends on what the rules leave open:
#
# - the order of atomic operations that nothing else orders: what follows one whose result is read follows those before
#   it;
# - what a thread hands over by a signal whose fence lies before a barrier.

LANES = (0, 1, 2, 32, 33, 34)


class Orders:
    def __init__(self, draw, number):
        self.name = f"k{number}"
        self.blocks, self.shared = draw.choice([(1, True), (1, False), (2, False)])
        lanes = sorted(draw.sample(LANES, draw.choice([2, 2, 3, 4])))
        threads = [(block, lane) for block in range(self.blocks) for lane in lanes]
        kinds = draw.choice([["load", "load", "store"], ["load", "load", "load", "store"],
                             ["load", "store", "atomic", "read atomic"],
                             ["load", "load", "atomic", "read atomic", "volatile load", "volatile store"]])
        events = ["signal", "take", "take", "fence", "meet", "meet", "barrier"]
        self.steps = []
        for _ in range(draw.randint(3, 14)):
            kind = draw.choice(kinds if draw.random() < 0.55 else events)
            self.steps.append((kind, draw.choice(threads), draw.randrange(2)))
        word = "s" if self.shared else "x"
        lines = []
        if self.shared:
            lines = ["__shared__ int s[2];", "if (threadIdx.x < 2) s[threadIdx.x] = 0;", "__syncthreads();"]
        lines += ["const int t = blockIdx.x * 64 + threadIdx.x;", "int r = 0;"]
        lines += [self.statement(number, word, *step) for number, step in enumerate(self.steps)]
        self.text = "\n    ".join([f"__global__ void {self.name}(int* x, volatile int* flags, int* out)\n{{", *lines,
                                   "out[t] = r;"]) + "\n}\n"

    def host(self):
        return ["int *x = array<int>(64), *flags = array<int>(64);", "cudaMemset(x, 0, 64);",
                "cudaMemset(flags, 0, 64);", f"{self.name}<<<{self.blocks}, 64>>>(x, flags, array<int>(512));"]

    @staticmethod
    def statement(number, word, kind, thread, which):
        at = f"{word}[{which}]"
        seen = f"*(volatile int*)&{at}"
        if kind == "barrier": return "__syncthreads();"
        if kind == "meet": return f"if (threadIdx.x / 32 == {thread[1] // 32}) __syncwarp();"
        # clock() keeps compilers from joining accesses.
        does = {"load": f"r += {at};", "store": f"{at} = {number};", "atomic": f"atomicAdd(&{at}, 1);",
                "read atomic": f"r += atomicAdd(&{at}, 1);",
                "volatile load": f"r += {seen};", "volatile store": f"{seen} = {number};", "fence": "__threadfence();",
                "signal": f"__threadfence(); atomicExch((int*)&flags[{which}], 1);",
                "take": f"r += atomicAdd((int*)&flags[{which}], 0);"}[kind]
        return f"if (t == {thread[0] * 64 + thread[1]}) {{ {does} clock(); }}"

    def in_order(self):
        """The steps as the simulator comes to them."""
        for block in range(self.blocks):
            phase = []
            for step in [*self.steps, ("barrier", None, None)]:
                if step[0] != "barrier":
                    phase.append(step)
                    continue
                for warp in (0, 1):
                    parts = [[]]
                    for kind, thread, which in phase:
                        if thread[1] // 32 != warp: continue
                        if kind == "meet": parts.append([])
                        elif thread[0] == block: parts[-1].append((kind, thread, which))
                    for number, part in enumerate(parts):
                        yield from sorted(part, key=lambda step: step[1])
                        if number < len(parts) - 1: yield "meet", (block, warp * 32), None
                yield "barrier", (block, 0), None
                phase = []

    def races(self):
        verdicts = {(early, self.pairs(early, follows)) for early in (False, True) for follows in (False, True)}
        found = {verdict for _, verdict in verdicts}
        return found.pop() if len(found) == 1 else None

    def pairs(self, early, follows):
        """True if two accesses race. `early`: a barrier counts as a fence. `follows`: see above."""
        threads = [(block, lane) for block in range(self.blocks) for lane in LANES]
        known = {t: dict.fromkeys(threads, 0) for t in threads}
        fenced = {t: dict.fromkeys(threads, 0) for t in threads}
        promised = {t: dict.fromkeys(threads, 0) for t in threads}
        objects, made, raced = {}, {}, False

        def join(to, other):
            for t in threads: to[t] = max(to[t], other[t])

        for kind, thread, which in self.in_order():
            if kind in ("meet", "barrier"):
                group = [t for t in threads if t[0] == thread[0]
                         and (kind == "barrier" or t[1] // 32 == thread[1] // 32)]
                for clocks in (known, fenced):
                    joint = dict.fromkeys(threads, 0)
                    for t in group: join(joint, clocks[t])
                    for t in group: clocks[t] = dict(joint)
                if early:
                    for t in group: fenced[t] = dict(known[t])
                continue
            own = known[thread]
            own[thread] += 1
            if kind in ("fence", "signal"):
                join(own, promised[thread])
                fenced[thread] = dict(own)
            place = objects.setdefault(("flag" if kind in ("signal", "take") else "word", which),
                                       dict.fromkeys(threads, 0))
            if kind in ("signal", "take", "atomic", "read atomic", "volatile store"): join(place, fenced[thread])
            if kind == "take": join(own, place)
            if kind == "volatile load": join(promised[thread], place)
            if kind in ("signal", "take", "fence"): continue
            here = (kind, thread, own[thread], dict(own))
            for there in made.setdefault(which, []):
                other_kind, other, count, _ = there
                if other == thread or own[other] >= count: continue
                if not ("store" in kind + other_kind or "atomic" in kind + other_kind): continue
                apart = other[0] != thread[0] or other[1] // 32 != thread[1] // 32
                if "atomic" in kind + other_kind and not {kind, other_kind} & {"load", "store"}: continue
                if kind.startswith("volatile") and other_kind.startswith("volatile") and apart: continue
                one, plain = (here, there) if "atomic" in kind else (there, here)
                if follows and "atomic" in one[0] and any(
                        k == "read atomic" and plain[3][t] >= c > one[3][t] for k, t, c, _ in made[which]):
                    continue
                raced = True
            made[which].append(here)
            # Who reads no result does not know who was there before.
            if kind == "read atomic": join(own, place)
        return raced



# right

# When a thread stores, in a loop over k: each lane in turns of its own.
TURNS_OF_STORES = ["k == t % 8", "k == 7 - t % 8", "k == (t * 5 + 3) % 8", "(k + t) % 3 == 0", "k >= t % 8",
                   "k <= t % 8", "(t * 2654435761u >> 28) % 8 == k", "t / 32 == k", "3 - t / 32 == k",
                   "k == 2 && t % 2", "t % 32 < k"]
LOOPS = ["for (int k = 0; k < 8; ++k)", "for (int k = 7; k >= 0; --k)", "for (unsigned k = t % 2; k < 8; ++k)",
         "for (int k = t % 8; k >= 0; --k)", "for (int j = 0, k = t % 8; j < 8; ++j, k = (k + 3) % 8)"]
# A thread's own word of n: whichever it is, no other thread has it.
OWN = ["t", "n - 1 - t", "(t + 5) % n", "(t ^ 1)", "(t * 3 + t / n) % n"]
OF_OTHERS = ["(t + 1) % n", "n - 1 - t", "t / 2", "0", "t * 7 % n", "(t + 32) % n", "t & ~31"]


class Right:
    """Between two barriers, `own` is how threads index s, which others then do not touch; or s is only read."""

    def __init__(self, draw, number):
        self.draw, self.name, self.flags, self.last = draw, f"k{number}", 0, False
        self.type = draw.choice(["int", "int", "float", "double", "short", "char", "long long"])
        self.threads = draw.choice([64, 64, 128, 96, 32])
        self.global_flags = draw.random() < 0.4
        # Threads that have left need not come to a barrier.
        self.leave = draw.choice(["", "", "", f"t >= {self.threads - draw.choice([32, 16, 7])}"])
        if self.threads == 32: self.leave = ""
        lines = ["const int t = threadIdx.x, n = blockDim.x, lane = t % 32;", f"{self.type} r = 0;", "int own = t;",
                 f"__shared__ {self.type} s[{self.threads}], d[2][{self.threads}];",
                 f"s[t] = d[0][t] = d[1][t] = ({self.type})(t % 5);"]
        if not self.global_flags: lines += ["__shared__ %s f[16];" % self.type, "if (t < 16) f[t] = 0;"]
        lines.append("__syncthreads();")
        for _ in range(draw.randint(2, 5)): lines += self.phase()
        if any("bars" in line for line in lines):
            lines.insert(0, "__shared__ cuda::barrier<cuda::thread_scope_block> bars[2]; "
                            "if (threadIdx.x < 2) init(&bars[threadIdx.x], blockDim.x);")
        if self.leave:
            lines += [f"if ({self.leave}) return;"]
            for _ in range(draw.randint(1, 2)): lines += self.same_value()
        flags = f", {self.type}* f" if self.global_flags else ""
        self.text = "\n    ".join([
            f"__global__ void {self.name}({self.type}* out{flags}, unsigned* count, int* part)\n{{", *lines,
            "out[blockIdx.x * blockDim.x + t] = r;"]) + "\n}\n"

    def host(self):
        blocks = self.draw.choice([1, 1, 2, 3])
        arrays = [f"{self.type}* out = array<{self.type}>({blocks * self.threads} * sizeof({self.type}));",
                  "unsigned* count = array<unsigned>(2 * sizeof(unsigned));",
                  "check(cudaMemset(count, 0, 2 * sizeof *count));", "int* part = array<int>(4 * sizeof(int));"]
        if self.global_flags:
            arrays += [f"{self.type}* f = array<{self.type}>(16 * sizeof({self.type}));",
                       f"check(cudaMemset(f, 0, 16 * sizeof({self.type})));"]
        return [*arrays, f"{self.name}<<<{blocks}, {self.threads}>>>(out{', f' * self.global_flags}, count, part);"]

    def phase(self):
        return getattr(self, self.draw.choice(
            ["same_value"] * 4 + ["exchange"] * 2 + ["halves", "buffers", "barriers", "atomics", "last_block", "uneven",
                                                     "own_many"]))()

    def same_value(self):
        """One statement stores one value, from any threads in any turns."""
        draw, flag = self.draw, self.flags
        if flag == 16: return self.exchange()
        self.flags += 1
        value = draw.choice(["1", "7", "0", "n", f"({self.type})(gridDim.x + 1)"])
        inner = f"f[{flag}] = {value};"
        if draw.random() < 0.3: inner = f"{{ r += s[{draw.choice(OF_OTHERS)}]; {inner} }}"
        if draw.random() < 0.2: inner = f"for (int j = 0; j < 2; ++j) if ((j ^ t) & 1) {inner}"
        lines = [f"{draw.choice(LOOPS)} if ({draw.choice(TURNS_OF_STORES)}) {inner}"]
        # Other blocks may store it meanwhile, so a global one is not read.
        return [*lines, "__syncthreads();", *([] if self.global_flags else [f"r += f[{flag}];"])]

    def own(self):
        place = self.draw.choice(OWN[:4])
        return "t" if place == "(t ^ 1)" and self.threads % 2 else place

    def exchange(self):
        return [f"own = {self.own()};", f"s[own] = ({self.type})(r + t % 3);", "__syncthreads();",
                *(f"r += s[{self.draw.choice(OF_OTHERS)}];" for _ in range(self.draw.randint(1, 3))),
                "__syncthreads();"]

    def halves(self):
        """Lanes of half a warp meet, and the other half does something else or nothing."""
        first = self.draw.random() < 0.5
        mask, condition = ("0xffffu", "lane < 16") if first else ("0xffff0000u", "lane >= 16")
        other = self.draw.choice(["", f" else {{ s[t] = ({self.type})(lane); s[t] += 1; }}"])
        return [f"if ({condition}) {{ s[t] = ({self.type})(t % 7); __syncwarp({mask}); "
                f"r += s[t ^ {self.draw.choice([1, 2, 8])}]; __syncwarp({mask}); s[t] = 2; }}{other}",
                "__syncthreads();"]

    def buffers(self):
        """Two buffers exchange their roles, so that one barrier for each turn is enough."""
        return [f"for (int k = 0; k < {self.draw.randint(2, 5)}; ++k) {{",
                f"    d[k & 1][t] = ({self.type})(r + k);", "    __syncthreads();",
                f"    r += d[k & 1][{self.draw.choice(OF_OTHERS)}];", "}", "__syncthreads();"]

    def barriers(self):
        """Two barrier objects exchange their roles."""
        return [f"for (int k = 0; k < {self.draw.randint(2, 4)}; ++k) {{",
                f"    d[k & 1][t] = ({self.type})(t % 3 + k);", "    bars[k & 1].arrive_and_wait();",
                f"    r += d[k & 1][{self.draw.choice(OF_OTHERS)}];", "}", "__syncthreads();"]

    def atomics(self):
        return [f"atomicAdd(count, t % {self.draw.choice([2, 3])} ? 1u : 2u);"]

    def last_block(self):
        """The block that comes last knows that all others are done."""
        if self.last: return self.exchange()
        self.last = True
        return ["__shared__ bool last;",
                "if (t == 0) {", "    part[blockIdx.x] = (int)blockIdx.x + 1;", "    __threadfence();",
                "    last = atomicAdd(&count[1], 1u) == gridDim.x - 1;", "}", "__syncthreads();",
                "if (last && t < gridDim.x) r += part[t];", "__syncthreads();"]

    def uneven(self):
        """Loops of as many turns as the thread wants, over its own word."""
        return [f"own = {self.own()};", f"for (int k = 0; k < t % {self.draw.choice([3, 5, 7])}; ++k) s[own] += k;",
                "__syncthreads();"]

    def own_many(self):
        return [f"for (int k = t; k < n; k += {self.threads}) s[k] = ({self.type})(k % 4);", "__syncthreads();"]


HEADS = {"counts": COUNTS_HEAD, "memory": MEMORY_HEAD, "races": "", "orders": "", "right": "#include <cuda/barrier>\n"}
# In memory, bytes of no array lie behind each, or an access past its end might be one to the next.
HEAD = """#include <cstdio>
#include <cstdlib>
#include <vector>

std::vector<void*> arrays, gaps, inputs;  // the first two of the kernel in hand

void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\\n", cudaGetErrorString(error));
    std::exit(3);
}

template <class T>
T* array(size_t bytes)
{
    T* pointer;
    void* gap;
    check(cudaMalloc(&pointer, bytes));
    check(cudaMalloc(&gap, 4096));
    arrays.push_back(pointer);
    gaps.push_back(gap);
    return pointer;
}

void free_all(std::vector<void*>& pointers)
{
    for (void* pointer : pointers) cudaFree(pointer);
    pointers.clear();
}
"""


def kernels(mode, seed, count=None):
    """The kernels of a seed: their name, their text, and the statements of the host that launch them."""
    draw = random.Random(seed)
    made = [{"counts": Counts, "memory": Memory, "races": Races, "orders": Orders,
             "right": Right}[mode](draw, n)
            for n in range(count or KERNELS[mode])]
    for kernel in made: kernel.launch = "\n    ".join([f"void launch_{kernel.name}()\n{{", *kernel.host()]) + "\n}\n"
    return made


def program(mode, some):
    """The text of a program with these kernels."""
    return f"""{HEAD}{HEADS[mode]}
{"".join(f"{kernel.text}{chr(10)}{kernel.launch}{chr(10)}" for kernel in some)}
void (*const launches[])() = {{{", ".join("launch_" + kernel.name for kernel in some)}}};

int main(int argc, char** argv)
{{
    cudaError_t error = cudaSuccess;
    for (int n = 0; n < (argc > 1 ? argc - 1 : {len(some)}) && !error; ++n) {{
        launches[argc > 1 ? std::atoi(argv[n + 1]) : n]();
        error = cudaDeviceSynchronize();
        free_all(arrays);
        free_all(gaps);
    }}
    free_all(inputs);
    return error;
}}
"""


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("mode", choices=SEEDS)
    parser.add_argument("seed", type=int)
    options = parser.parse_args()
    print(program(options.mode, kernels(options.mode, options.seed)), end="")


if __name__ == "__main__":
    sys.exit(main())
