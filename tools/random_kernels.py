"""Random kernels whose memory accesses Nsight Compute and the simulator count.

    programs(31, 480)        # [(name, text, [Kernel, ...]), ...]: CUDA programs with 60 kernels each

Each program launches each of its kernels once, in order, and prints "kernel,checksum" of what the kernel has stored.
The inputs are small integers, so all sums are exact, and the checksums are the same on every machine and in any order
of the threads. No thread loads what another stores without a barrier between them. Every loaded value flows into a
stored one, and every shared array is loaded after it is stored, or nvcc would leave accesses out.

The classes of kernels, in turns: straight-line code, branches, loops whose lanes all make the same number of turns, and
loops whose lanes do not. nvcc may make one access of several. Straight-line code and branches leave it no occasion:

- No array is loaded twice at one index.
- The arms of a branch access elements of different types, or nvcc would select the address and make one access of two.
- Each condition is tested once, or nvcc would copy what stands between two tests into both arms of the first.
- The lanes of a warp do not all add to one address, or nvcc would add up their values first.
- Structures in memory are loaded and stored whole. Of accesses to one member after the other, nvcc makes one.
  Loops have such accesses, unless programs() has whole=True. All else is the same then.
- No float in shared memory is added to atomically: for nvcc, that is a loop of loads and compare-and-swap operations.

`Kernel.expected` has the number of memory instructions that the text asks for: {"LDG": 4, "STG": 1, ...}.
"""

import collections
import dataclasses
import random

CLASSES = ["straight", "branches", "uniform loops", "divergent loops"]
PER_PROGRAM = 60
MOST_THREADS = 1024  # of a launch
MOST_TURNS = 8  # of a loop
INPUT_LENGTH = 20480
HASH = "2654435761u"


@dataclasses.dataclass(frozen=True)
class Type:
    name: str
    members: tuple  # (name, type) of each; a scalar has one without a name
    size: int
    alignment: int
    text: str = ""  # its declaration, unless CUDA has it

    @property
    def kinds(self):
        return {kind for _, kind in self.members}

    @property
    def instructions(self):
        return self.size // min(self.alignment, 16)

    def functions(self):
        """The functions that every program has for a type."""
        name, members = self.name, self.members
        braces = [f"({kind})((int)s{f' + {n}' if n else ''})" for n, (_, kind) in enumerate(members)]
        total = " + ".join(f"(float)v{member}" for member, _ in members)
        text = f"__host__ __device__ float total({name} v) {{ return {total}; }}\n"
        if not self.text and len(members) == 1:
            text += f"template <> __host__ __device__ {name} made(float s) {{ return {braces[0]}; }}\n"
            return text + f"__device__ {name} plus({name} v, float s) {{ return ({name})(v + ({name})(int)s); }}\n"
        each = [member for member, _ in members]
        sums = ", ".join(f"v{m} + w{m}" for m in each)
        increased = " ".join(f"v{m} += w{m};" for m in each)
        changed = " ".join(f"v{m} += ({kind})(int)s;" for m, kind in members)
        text += f"template <> __host__ __device__ {name} made(float s) {{ return {{{', '.join(braces)}}}; }}\n"
        text += f"__device__ {name} plus({name} v, float s)\n{{\n    {changed}\n    return v;\n}}\n"
        text += f"__device__ {name} operator+({name} v, {name} w) {{ return {{{sums}}}; }}\n"
        return text + f"__device__ void operator+=({name}& v, {name} w)\n{{\n    {increased}\n}}\n"


def scalar(name, size):
    return Type(name, (("", name),), size, size)


def vector(name, kind, count, size):
    return Type(name, tuple((f".{m}", kind) for m in "xyzw"[:count]), size, size)


def structure(name, members, size, alignment):
    aligned = f"__align__({alignment}) " if alignment == 16 or (alignment == 8 and "double" not in members) else ""
    flat = [(member, kind) for kind, names in members.items() for member in names]
    declared = " ".join(f"{kind} {', '.join(names)};" for kind, names in members.items())
    return Type(name, tuple((f".{member}", kind) for member, kind in flat), size, alignment,
                f"struct {aligned}{name} {{ {declared} }};\n")


TYPES = [
    scalar("char", 1), scalar("short", 2), scalar("int", 4), scalar("float", 4), scalar("double", 8),
    vector("float2", "float", 2, 8), vector("float4", "float", 4, 16), vector("double2", "double", 2, 16),
    vector("int4", "int", 4, 16),
    structure("Complex", {"float": ["re", "im"]}, 8, 8),
    structure("Vector", {"float": ["x", "y", "z"]}, 12, 4),
    structure("Entry", {"float": ["key", "value"], "int": ["from", "to"]}, 16, 16),
    structure("Moments", {"double": ["mean", "spread", "slope"]}, 24, 8),
    structure("Body", {"float": ["x", "y", "z", "mass", "vx", "vy", "vz", "charge"]}, 32, 16),
]
SCALARS = [type for type in TYPES if len(type.members) == 1]
STRUCTURES = [type for type in TYPES if len(type.members) > 1]
KINDS = sorted({kind for type in TYPES for kind in type.kinds})


def indented(lines):
    return ["    " + line for line in lines]


class Kernel:
    def __init__(self, draw, name, kind, whole=False):
        self.draw, self.name, self.kind, self.whole = draw, name, kind, whole
        self.block = draw.choice([32, 64, 96, 128, 192, 256, 20, 33, 48, 100, 250])
        self.grid = draw.randint(1, min(5, MOST_THREADS // self.block))
        self.threads = self.grid * self.block
        self.inputs, self.outputs, self.shared = [], [], []  # (name, type), (name, type, length), (name, type, stride)
        self.sums = []  # (name, type): arrays to which the kernel adds with atomic operations
        self.used = set()  # (array, index): no array is loaded twice at one index
        self.families = set()  # of conditions
        self.kinds = set(KINDS)  # of the members that may be accessed here
        self.thread, self.turn, self.span = "t", "", MOST_THREADS
        self.expected = collections.Counter()
        self.unroll = draw.choice(["1", "1", "1", "", ""]) if "loops" in kind else "1"
        self.body()

    # Indices

    def fresh(self, array, make):
        """An index that this array has not been loaded at."""
        for _ in range(100):
            index = make()
            if (array, index) not in self.used:
                self.used.add((array, index))
                return index
        raise AssertionError(f"{self.name}: no new index for {array}")

    def anywhere(self):
        """An index of an input. The largest is below 5 * 2048 + 100."""
        draw, t = self.draw, self.thread
        c = draw.randint(1, 99)
        return draw.choice([
            lambda: f"{t} + {c}", lambda: f"{t} * {draw.choice([2, 3, 5])} + {c}", lambda: f"{self.span + c} - {t}",
            lambda: f"({t} + {c}) * {HASH} >> {draw.choice([19, 20, 22])}",
            lambda: f"({t} * {draw.choice([5, 33, 97])} + {c}) % {self.span}",
            lambda: f"{t} % 32 * 32 + {t} / 32 + {c}",
            lambda: f"{t} ^ {c}", lambda: f"{t} / {draw.choice([2, 4, 8])} + {c}",
            lambda: f"{t} / 8 * 2 + {t} % 3 + {c}", lambda: f"{t} / 32 * {draw.choice([37, 64])} + lane * 3 + {c}",
            lambda: self.looked_up(f"{t} + {c}"), lambda: self.looked_up(f"{t} * 3 + {c}"),
        ])()

    def looked_up(self, at, step=1):
        """A number below MOST_THREADS, from a table. In a loop, the place in the table moves on with each turn."""
        self.input("int", "order")
        if ("order", at) in self.used:
            return f"{at} % {MOST_THREADS}"
        self.used.add(("order", at))
        self.expected["LDG"] += 1
        return f"order[{at} + {self.turn} * {step}]" if self.turn else f"order[{at}]"

    def own(self, many=1):
        """An index of an output that no other thread has; and the length that this takes."""
        draw, t, span = self.draw, self.thread, self.span
        c = draw.randint(1, 63)
        place, length = draw.choice([
            (t, span), (t, span), (t, span), (f"{span - 1} - {t}", span), (f"({t} ^ {c})", span),
            (f"{t} * {draw.choice([33, 5, 97])} % {span}", span),
            (f"({t} * 2 + {c % 2})", 2 * span), (f"({t} * 3 + {c % 3})", 3 * span), (f"({t} + {c})", span + 64),
            ("order", span) if span == MOST_THREADS else (t, span)])
        if place == "order":
            at = next(at for n in range(64) if ("order", at := f"({t} ^ {(c + n) % 64})") not in self.used)
            place = self.looked_up(at, MOST_THREADS)  # in each turn another permutation
        return (f"{place} + {self.turn} * {length}" if self.turn else place), length * (many if self.turn else 1)

    def in_block(self, stride):
        """An index of a shared array, of which every element `stride` apart is set."""
        draw, block = self.draw, self.block
        t, last = ("tid", block - 1) if self.thread == "t" else (self.thread, 2 * MOST_THREADS)
        k = f" + {self.turn}" if self.turn else ""
        c = draw.randint(1, block - 1)
        place = draw.choice([
            f"({t} + {c}{k}) % {block}", f"({t} * {draw.choice([3, 5, 7, 9, 17])} + {c}{k}) % {block}",
            f"({last} - {t}{k}) % {block}", f"({t} / {draw.choice([2, 4, 8])} + {c}{k}) % {block}",
            f"({t} / 8 * 2 + {t} % 3 + {c}{k}) % {block}", f"(({t} + {c}{k}) * {HASH} >> 16) % {block}"])
        return place if stride == 1 else f"{place} * {stride}"

    # Arrays

    def input(self, type, name=""):
        """The name of an input of this type: one that there is, or a new one."""
        if name:
            if (name, type) not in self.inputs:
                self.inputs.append((name, type))
            return name
        known = [n for n, other in self.inputs if other == type.name and n != "order"]
        if known and (len(known) == 2 or self.draw.random() < 0.6):
            return self.draw.choice(known)
        name = f"in{len([n for n, _ in self.inputs if n != 'order'])}"
        self.inputs.append((name, type.name))
        return name

    def output(self, type, length):
        self.outputs.append((f"out{len(self.outputs)}", type.name, length))
        return self.outputs[-1][0]

    def type(self, among=TYPES):
        return self.draw.choice([type for type in among if type.kinds <= self.kinds] or
                                [type for type in TYPES if type.kinds <= self.kinds])

    def load(self, type):
        """An element of an input."""
        array = self.input(type)
        index = self.fresh(array, self.anywhere)
        self.expected["LDG"] += type.instructions
        if self.turn:
            index = f"({index}) + {self.turn} * {self.draw.choice([1, 32, 97])}"
        return f"{array}[{index}]"

    def load_shared(self, chosen=None):
        name, type, stride = chosen or self.draw.choice(self.usable_shared())
        self.expected["LDS"] += type.instructions
        return type, f"{name}[{self.fresh(name, lambda: self.in_block(stride))}]"

    def usable_shared(self):
        return [entry for entry in self.shared if entry[1].kinds <= self.kinds]

    # Statements

    def target(self, type):
        place, length = self.own(MOST_TURNS)
        self.expected["STG"] += type.instructions
        return f"{self.output(type, length)}[{place}]"

    def statement(self):
        kinds = ["total", "total", "member", "plus", "sum", "store", "copy", "increased", "in place", "atomic"]
        kinds += ["ticket"] if not self.turn else []
        kinds += ["shared"] * 4 if self.usable_shared() else []
        if not any(type.kinds <= self.kinds for type in STRUCTURES):
            kinds = [kind for kind in kinds if kind not in ("sum", "increased", "member")]
        return getattr(self, "make_" + self.draw.choice(kinds).replace(" ", "_"))()

    def make_total(self):
        weight = self.draw.choice(["", "2 * ", "3 * "])
        return [f"acc += {weight}total({self.load(self.type())});"]

    def make_member(self):
        type = self.type(STRUCTURES)
        weighted = [f"{n + 1} * v{member}" for n, (member, _) in enumerate(type.members)]
        return ["{", f"    const {type.name} v = {self.load(type)};", f"    acc += {' + '.join(weighted)};", "}"]

    def make_plus(self):
        type = self.type()
        return [f"{self.target(type)} = plus({self.load(type)}, {self.draw.choice(['acc', 'lane', '2'])});"]

    def make_sum(self):
        type = self.type(STRUCTURES)
        return [f"{self.target(type)} = {self.load(type)} + {self.load(type)};"]

    def make_store(self):
        type = self.type()
        return [f"{self.target(type)} = made<{type.name}>(acc + {self.draw.randint(1, 9)});"]

    def make_copy(self):
        type = self.type()
        return [f"{self.target(type)} = {self.load(type)};"]

    def make_increased(self):
        type = self.type(STRUCTURES)
        lines = [f"{type.name} v = {self.load(type)};", f"v += {self.load(type)};", f"{self.target(type)} = v;"]
        return ["{", *indented(lines), "}"]

    def make_in_place(self):
        type = self.type()
        self.expected["LDG"] += type.instructions
        place = self.target(type)
        if type in SCALARS or "loops" in self.kind and not self.whole:
            return [f"{place} += {self.load(type)};"]
        return ["{", f"    {type.name}& element = {place};", f"    element = element + {self.load(type)};", "}"]

    def make_shared(self):
        type, element = self.load_shared()
        form = self.draw.choice(["total", "total", "copy", "plus"] + (["sum"] if type in STRUCTURES else []))
        if form == "total":
            return [f"acc += total({element});"]
        if form == "copy":
            return [f"{self.target(type)} = {element};"]
        if form == "plus":
            return [f"{self.target(type)} = plus({element}, lane);"]
        return [f"{self.target(type)} = {element} + {self.load(type)};"]

    def make_atomic(self):
        """An atomic operation on an address of several threads, but not of all lanes of a warp. Its value is unused."""
        draw, t = self.draw, self.thread
        type = draw.choice(["int", "unsigned", "float"])
        if len(self.sums) == 3:
            return self.make_total()
        name = f"sums{len(self.sums)}"
        self.sums.append((name, type))
        k = f" + {self.turn}" if self.turn else ""
        at = draw.choice([f"({t}{k}) % {draw.choice([7, 32, 48])}", f"({t}{k}) * {HASH} >> 27", f"({t} * 3{k}) % 61"])
        self.expected["RED"] += 1
        calls = ["atomicAdd"] if type == "float" else ["atomicAdd", "atomicAdd", "atomicMax", "atomicOr", "atomicXor"]
        call = draw.choice(calls)
        value = draw.choice(["lane % 5 + 1", f"{t} / 7 + 1"])
        return [f"{call}(&{name}[{at}], ({type})({value}));"]

    def make_ticket(self):
        """An atomic operation on an address that no other thread has. Its value is used."""
        draw = self.draw
        type = draw.choice(["int", "unsigned", "float"])
        place, length = self.own()
        self.expected["ATOMG"] += 1
        self.outputs.append((f"out{len(self.outputs)}", type, length))
        call = draw.choice(["atomicAdd", "atomicExch"] + (["atomicMax", "atomicCAS"] if type != "float" else []))
        arguments = f"({type})0, ({type})(lane + 1)" if call == "atomicCAS" else f"({type})(lane + 1)"
        return [f"acc += (float){call}(&{self.outputs[-1][0]}[{place}], {arguments});"]

    # Shared arrays

    def fill(self):
        """Declares and fills a shared array; the barrier follows."""
        draw, block = self.draw, self.block
        type, name = draw.choice(TYPES), f"s{len(self.shared)}"
        stride = draw.choice([1, 1, 1, 2, 3, 5]) if type.size <= 8 and type.alignment >= 4 else 1
        shuffled = [f"tid * {m} % {block}" for m in (7, 3, 11) if block % m]
        place = draw.choice(["tid", "tid", f"{block - 1} - tid", *shuffled])
        self.shared.append((name, type, stride))
        self.expected["STS"] += type.instructions
        value = draw.choice([self.load, lambda type: f"plus({self.load(type)}, lane)",
                             lambda type: f"made<{type.name}>(t + {draw.randint(1, 9)})"])(type)
        place = place if stride == 1 else f"({place}) * {stride}"
        return f"__shared__ {type.name} {name}[{block * stride}];", f"{name}[{place}] = {value};"

    def bins(self):
        """Counts in shared memory with atomic operations: declaration, first statements, last statement."""
        draw, block = self.draw, self.block
        type = draw.choice(["int", "unsigned", "float"] if "loops" in self.kind else ["int", "unsigned"])
        if type == "float":
            # The card tries again until no other thread comes between.
            # With a common address, the number of tries would depend on its timing.
            at, call = f"{block - 1} - tid", "atomicAdd"
            self.expected["LDS"] += 1
        else:
            at = draw.choice([
                lambda: f"(tid * {draw.choice([1, 3, 7])} + 1) % {block}", lambda: f"tid / {draw.choice([2, 4])}",
                lambda: f"(t * {HASH} >> 16) % {block}", lambda: f"{self.looked_up('t + 100')} % {block}"])()
            call = draw.choice(["atomicAdd", "atomicAdd", "atomicMax", "atomicOr"])
        self.expected.update({"STS": 1, "ATOMS": 1, "LDS": 1})
        first = ["bins[tid] = 0;", "__syncthreads();", f"{call}(&bins[{at}], ({type})(lane % 3 + 1));"]
        return f"__shared__ {type} bins[{block}];", first, "acc += (float)bins[tid];"

    # Control flow

    def condition(self):
        draw = self.draw
        families = {
            "bit": lambda: f"lane & {draw.choice([1, 2, 8])}",
            "third": lambda: f"lane % 3 == {draw.randint(0, 2)}",
            "range": lambda: draw.choice(["lane < 13", "lane >= 20", "lane < 29"]),
            "hash": lambda: f"({self.thread} * {HASH} >> 16) % 3 == {draw.randint(0, 2)}",
            "warp": lambda: f"((lane ^ warp) & {draw.choice([1, 2, 4])})",
            "block": lambda: "blockIdx.x % 2 == 0",
            "half": lambda: f"tid < {self.block // 2 + 3}",
            "value": lambda: f"acc > {draw.choice([20, 40])}",
            "table": lambda: (self.looked_up(f"{self.thread} + {draw.randint(200, 299)}") +
                              f" % {draw.choice([2, 3, 5])} == 1"),
        }
        if self.turn:
            families["turn"] = lambda: f"(lane + {self.turn}) % {draw.choice([2, 3, 4])} == 1"
        left = sorted(set(families) - self.families)
        if not left:
            return None
        family = draw.choice(left)
        self.families.add(family)
        return families[family]()

    def arms(self, count):
        """What members the arms of a branch may access: those of one arm are no other's."""
        kinds = sorted(self.kinds)
        if len(kinds) < count:
            return None
        self.draw.shuffle(kinds)
        return [set(kinds[n::count]) for n in range(count)]

    def arm(self, kinds, depth):
        before, self.kinds = self.kinds, kinds
        lines = [line for _ in range(self.draw.randint(1, 2)) for line in self.statement()]
        if depth > 0 and self.draw.random() < 0.4:
            lines += self.branch(depth - 1)
        self.kinds = before
        return indented(lines)

    def branch(self, depth=1):
        draw = self.draw
        form = draw.choice(["if", "if", "else", "else", "and", "switch"])
        if form == "switch" and (arms := self.arms(3)) and "switch" not in self.families:
            self.families.add("switch")
            chosen = f"({self.thread} / {draw.choice([1, 2, 5])} + {draw.randint(0, 2)}) % {draw.choice([3, 4])}"
            lines = [f"switch ({chosen}) {{"]
            for n, kinds in enumerate(arms):
                lines += ["default: {" if n == 2 else f"case {n}: {{", *self.arm(kinds, 0), "    break;", "}"]
            return lines + ["}"]
        condition = self.condition()
        if not condition:
            return self.statement()
        if form == "and" and (second := self.condition()):
            condition = f"({condition}) && ({second})"
        if form == "else" and (arms := self.arms(2)):
            return [f"if ({condition}) {{", *self.arm(arms[0], depth), "} else {", *self.arm(arms[1], depth), "}"]
        return [f"if ({condition}) {{", *self.arm(self.kinds, depth), "}"]

    def turns(self, head, tail=(), number="k", depth=0):
        """A loop with statements in it."""
        self.turn, before = number, self.turn
        lines = [line for _ in range(self.draw.randint(1, 2 if depth else 3)) for line in self.statement()]
        if self.draw.random() < 0.3:
            lines += self.branch(0)
        self.turn = before
        pragma = [f"#pragma unroll {self.unroll}"] if self.unroll else []
        return [*pragma, head, *indented(lines), *indented(tail)]

    def uniform_loop(self):
        draw = self.draw
        form = draw.choice(["for", "for", "argument", "argument", "while", "step", "barrier"])
        if form == "barrier" and self.shared and not self.guard:
            name, type, stride = draw.choice(self.shared)
            lines = self.turns("for (unsigned k = 0; k < turns; ++k) {")
            store = f"{name}[{'tid' if stride == 1 else f'tid * {stride}'}] = made<{type.name}>(acc);"
            self.expected["STS"] += type.instructions
            return [*lines, "    __syncthreads();", f"    {store}", "    __syncthreads();", "}"]
        if form == "while":
            lines = self.turns(f"while (k < {draw.randint(2, MOST_TURNS)}) {{", ["++k;"])
            return ["{", *indented(["unsigned k = 0;", *lines, "}"]), "}"]
        head = {"argument": "k < turns; ++k", "step": f"k < {MOST_TURNS}; k += {draw.choice([2, 3])}",
                "for": f"k < {draw.randint(2, 6)}; ++k"}.get(form, "k < 3; ++k")
        return [*self.turns(f"for (unsigned k = 0; {head}) {{"), "}"]

    def divergent_loop(self):
        draw, t = self.draw, self.thread
        form = draw.choice(["for", "for", "for", "from", "while", "do", "break", "continue", "chase", "grid"])
        if form == "grid":
            self.thread, self.span = "i", 2 * MOST_THREADS
            lines = [line for _ in range(draw.randint(1, 3)) for line in self.statement()]
            self.thread, self.span = "t", MOST_THREADS
            pragma = [f"#pragma unroll {self.unroll}"] if self.unroll else []
            limit = min(2 * self.threads + 7, 2 * MOST_THREADS)
            head = f"for (unsigned i = t; i < {limit}; i += gridDim.x * blockDim.x) {{"
            return [*pragma, head, *indented(lines), "}"]
        before, count = [], draw.choice([f"lane % {draw.choice([3, 5])} + 1", f"({t} * {HASH} >> 29)", f"{t} % 4 + 2",
                                         "(lane ^ warp) % 7", "most"])
        if count == "most" and form not in ("from", "break", "continue"):
            before = [f"const unsigned most = {self.looked_up(f'{t} + {draw.randint(300, 399)}')} % {MOST_TURNS};"]
        if form == "from":
            head = f"for (unsigned k = lane / {draw.choice([5, 8])}; k < 7; k += {draw.choice([1, 2])}) {{"
            lines = [*self.turns(head), "}"]
        elif form == "while":
            lines = ["unsigned k = 0;", *self.turns(f"while (k < {count}) {{", ["++k;"]), "}"]
        elif form == "do":
            lines = ["unsigned k = 0;", *self.turns("do {", ["++k;"]), f"}} while (k < {count});"]
        elif form in ("break", "continue"):
            lines = self.turns(f"for (unsigned k = 0; k < {MOST_TURNS}; ++k) {{")
            at = 1 + lines[0].startswith("#")
            lines[at:at] = [f"    if (({t} * {draw.choice([1, 3, 7])} + k) % 5 == 4) {form};"]
            lines += ["}"]
        elif form == "chase":
            self.expected["LDG"] += 1
            self.input("int", "order")
            loop = self.turns(f"for (unsigned k = 0; k < {count}; ++k) {{", ["at = order[at];", "acc += at % 8;"])
            lines = ["unsigned at = t;", *loop, "}"]
        else:
            lines = [*self.turns(f"for (unsigned k = 0; k < {count}; ++k) {{"), "}"]
        return ["{", *indented([*before, *lines]), "}"]

    def body(self):
        draw = self.draw
        self.guard = draw.random() < 0.5
        self.limit = self.threads - draw.choice([1, 5, 17]) if self.guard else self.threads
        declared, filled, after = [], [], []
        for _ in range(draw.choice([0, 0, 1, 1, 2])):
            declaration, store = self.fill()
            declared.append(declaration)
            filled.append(store)
        has_bins = draw.random() < 0.2
        if has_bins:
            declaration, first, last = self.bins()
            declared.append(declaration)
            filled += first
            after.append(last)
        if declared:
            filled.append("__syncthreads();")
        lines = [*after]
        for entry in self.shared:  # each is loaded at least once
            lines.append(f"acc += total({self.load_shared(entry)[1]});")
        some = {"straight": (2, 5), "branches": (0, 1), "uniform loops": (0, 1), "divergent loops": (0, 1)}[self.kind]
        for _ in range(draw.randint(*some)):
            lines += self.statement()
        for _ in range(draw.randint(1, 2) + (self.kind == "branches")):
            if self.kind == "branches":
                lines += self.branch()
            if self.kind == "uniform loops":
                lines += self.uniform_loop()
            if self.kind == "divergent loops":
                lines += self.divergent_loop()
        self.turn = ""
        type = self.type()
        lines.append(f"{self.target(type)} = made<{type.name}>(acc);")
        if self.guard and declared:
            lines = ["if (t < n) {", *indented(lines), "}"]
        elif self.guard:
            lines = ["if (t >= n) return;", *lines]
        self.lines = [
            "const unsigned tid = threadIdx.x, t = blockIdx.x * blockDim.x + tid, lane = tid % 32, warp = tid / 32;",
            "float acc = lane + warp;", *declared, *filled, *lines]

    @property
    def text(self):
        pointers = [f"const {type}* {name}" for name, type in self.inputs]
        pointers += [f"{type}* {name}" for name, type, *_ in [*self.outputs, *self.sums]]
        parameters = ", ".join([*pointers, "unsigned n", "unsigned turns"])
        return f"__global__ void {self.name}({parameters})\n{{\n" + "\n".join(indented(self.lines)) + "\n}\n"

    @property
    def launch(self):
        """Statements: each output is allocated in a statement of its own, or compilers would differ in the order."""
        slots, arguments, lines = collections.Counter(), [], []
        for name, type in self.inputs:
            arguments.append("order()" if name == "order" else f"input<{type}>({slots[type]})")
            slots[type] += name != "order"
        for name, type, length in [*self.outputs, *((name, type, 64) for name, type in self.sums)]:
            lines.append(f"{type}* {name} = output<{type}>({length});")
            arguments.append(name)
        arguments += [f"{self.limit}u", f"{3 + self.limit % 4}u"]
        lines.append(f"{self.name}<<<{self.grid}, {self.block}>>>({', '.join(arguments)});")
        return "\n".join(["    {", *indented(indented([*lines, f'finish("{self.name}");'])), "    }"]) + "\n"


HEAD = f"""#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

template <typename T>
__host__ __device__ T made(float s);

{"".join(type.text for type in TYPES)}
{"".join(type.functions() for type in TYPES)}
unsigned mixed(unsigned x)
{{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}}

void check(cudaError_t error)
{{
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\\n", cudaGetErrorString(error));
    std::exit(3);
}}

std::vector<void*> inputs;

// An array of small integers. Each type has two.
template <typename T>
const T* input(int slot)
{{
    static T* arrays[2];
    if (arrays[slot]) return arrays[slot];
    std::vector<T> values;
    for (unsigned n = 0; n < {INPUT_LENGTH}; ++n) values.push_back(made<T>(mixed(n + {INPUT_LENGTH} * slot) % 9));
    check(cudaMalloc(&arrays[slot], sizeof(T) * values.size()));
    inputs.push_back(arrays[slot]);
    check(cudaMemcpy(arrays[slot], values.data(), sizeof(T) * values.size(), cudaMemcpyHostToDevice));
    return arrays[slot];
}}

// Permutations of 0 to {MOST_THREADS - 1}, one behind the other.
const int* order()
{{
    static int* array;
    if (array) return array;
    std::vector<int> values;
    for (unsigned n = 0; n < {INPUT_LENGTH}; ++n) {{
        values.push_back(n % {MOST_THREADS});
        const unsigned first = n / {MOST_THREADS} * {MOST_THREADS};
        std::swap(values[n], values[first + mixed(n) % (n - first + 1)]);
    }}
    check(cudaMalloc(&array, sizeof(int) * values.size()));
    inputs.push_back(array);
    check(cudaMemcpy(array, values.data(), sizeof(int) * values.size(), cudaMemcpyHostToDevice));
    return array;
}}

std::vector<std::pair<void*, size_t>> outputs;  // of the kernel in hand

template <typename T>
T* output(size_t length)
{{
    T* array;
    check(cudaMalloc(&array, sizeof(T) * length));
    check(cudaMemset(array, 0, sizeof(T) * length));
    outputs.push_back({{array, sizeof(T) * length}});
    return array;
}}

// Waits for the kernel, prints the checksum of its outputs, and frees them. NO_CHECKSUMS leaves the sums out: under
// valgrind they take most of the time.
void finish(const char* kernel)
{{
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    unsigned sum = 2166136261u;
    for ([[maybe_unused]] auto [array, bytes] : outputs) {{
#ifndef NO_CHECKSUMS
        std::vector<unsigned char> values(bytes);
        check(cudaMemcpy(values.data(), array, bytes, cudaMemcpyDeviceToHost));
        for (unsigned char value : values) sum = (sum ^ value) * 16777619u;
#endif
        check(cudaFree(array));
    }}
    outputs.clear();
    std::printf("%s,%08x\\n", kernel, sum);
}}
"""


def program(kernels):
    return "\n".join([HEAD, *(kernel.text for kernel in kernels)]) + "\nint main()\n{\n" + \
        "".join(kernel.launch for kernel in kernels) + "    for (void* array : inputs) check(cudaFree(array));\n}\n"


def programs(seed, count, whole=False, per_program=PER_PROGRAM):
    draw = random.Random(seed)
    kernels = [Kernel(draw, f"k{n}", CLASSES[n % len(CLASSES)], whole) for n in range(count)]
    parts = [kernels[n:n + per_program] for n in range(0, count, per_program)]
    return [(f"random_{seed}_{n}", program(part), part) for n, part in enumerate(parts)]
