#!/usr/bin/env python3
"""Where nvcc puts the `__shared__` arrays of a kernel: a rule, and its test on random kernels compiled for the GPU.

usage: python3 tools/layout.py [--seed N] [--cases N] [--show]

The rule (nvcc 13.0, sm_75, sm_80 and sm_90): the arrays lie in the order of their declarations, each at the next
multiple of its alignment. Nothing is sorted: neither size, type, name nor the order of use matters.

  - An array that is never used, or never read, takes no room.
  - Two arrays in two scopes do not share their room.
  - First come arrays of file scope that this kernel alone uses, then the kernel's own, then arrays of file scope that
    several kernels use.
  - Arrays of a `__device__` function that is inlined come before the kernel's own, in the order in which the functions
    are defined, whatever the order of the calls. If the function is a template, they also come before the kernel's own,
    after those of ordinary functions, in the order of the calls (kernels that are templates themselves).
  - `extern __shared__` comes last, at the next multiple of 16, or of the largest alignment of any such array up to
    there in the file, those of earlier kernels included.
  - On sm_90 the first 1024 bytes are reserved. They are a multiple of 128 bytes: the banks are the same.

Where it fails: functions marked inline, static or __forceinline__, and template functions in a kernel that is no
template. nvcc emits those late, and their arrays come before or after the kernel's own, depending on the rest of the
file; among themselves, they keep their order. The arrays of a __noinline__ function come after the caller's.
`nvcc -G` and `ptxas -g` sort by alignment. The test shows the first of these failures with --show.

The offsets also decide how wide accesses are. Where a thread accesses neighbouring elements, ptxas makes one access
of 8 or 16 bytes of them if the address is a multiple of that, whatever the alignment of the type.

Exits 1 if a prediction is wrong. Without nvcc and nvdisasm or cuobjdump, it says so and exits 0.
"""

import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
import command_line

ARCHITECTURES = {75: 0, 80: 0, 90: 1024}  # and the bytes reserved at the beginning

# name: (bytes, alignment)
TYPES = {"char": (1, 1), "short": (2, 2), "float": (4, 4), "double": (8, 8), "float4": (16, 16), "Twelve": (12, 4),
         "Aligned16": (16, 16), "Aligned32": (32, 32), "Aligned128": (128, 128)}
STRUCTS = {
    "float4": "t.x, t.y, t.z, t.w", "Twelve": "t.x, t.y, t.z", "Aligned16": "t.x", "Aligned32": "t.x",
    "Aligned128": "t.x"}

PRELUDE = """
struct Twelve { float x, y, z; };
struct alignas(16) Aligned16 { float x; };
struct alignas(32) Aligned32 { float x; };
struct alignas(128) Aligned128 { float x; };
template <class T> __device__ void put(T& t, float f) { t = T(f); }
template <class T> __device__ float get(const T& t) { return float(t); }
""" + "".join(f"template <> __device__ void put({name}& t, float f) {{ {members.replace(',', ' =')} = f; }}\n"
              f"template <> __device__ float get(const {name}& t) {{ return {members.replace(',', ' +')}; }}\n"
              for name, members in STRUCTS.items()) + """
#define WHERE(a) *p = unsigned(__cvta_generic_to_shared(&a[0]))
"""


def layout(arrays, dynamic=0):
    """Byte offsets of the arrays of one kernel: [(bytes, alignment)] in the order of the declarations, those that take
    no room left out. With `dynamic`, the largest alignment of the `extern __shared__` arrays so far in the
    file, the offset of the kernel's comes last."""
    at, offsets = 0, []
    for size, alignment in arrays + ([(0, max(16, dynamic))] if dynamic else []):
        at += -at % alignment
        offsets.append(at)
        at += size
    return offsets


class Array:
    def __init__(self, random, name):
        self.name, self.type, self.count = name, random.choice(list(TYPES)), random.randint(1, 60)
        size, self.alignment = TYPES[self.type]
        self.bytes = size * self.count
        self.declaration = f"__shared__ {self.type} {name}[{self.count}];"

    def put(self):
        return f"put({self.name}[threadIdx.x], s); s += 1;"

    def get(self):
        return f"s += get({self.name}[i]);"


def case(random, number, feature):
    """A kernel: (its text, the arrays in the order predicted, those in the order in which it writes where they are)."""
    names = ["tile", "a", "b", "zeta", "alpha", "m", "x1", "x10", "x2", "buffer", "B", "_q", "block", "row", "c", "d"]
    random.shuffle(names)
    text, head, ordinary, templates, reported = [], [], [], [], []
    files = [Array(random, f"{names.pop()}_{number}") for _ in range(random.randint(1, 3) if feature == "file" else 0)]
    head += [a.declaration for a in files]

    calls = []
    for h in range(random.randint(1, 3) if feature in ("helpers", "template helpers", "inline helpers") else 0):
        mine = [Array(random, names.pop()) for _ in range(random.randint(1, 3))]
        used = random.sample(mine, len(mine))
        template = feature == "template helpers" and random.random() < 0.5
        head.append(("template <int> " if template else "") + "__device__ " +
                    ("inline " if feature == "inline helpers" else "") +
                    f"float helper{number}_{h}(volatile unsigned* p, float s, int i)\n{{")
        head += [a.declaration for a in mine] + [a.put() for a in used] + ["__syncthreads();"] + [a.get() for a in used]
        head += [f"WHERE({a.name});" for a in mine] + ["return s;\n}"]
        calls.append((f"helper{number}_{h}" + ("<1>" if template else ""), mine))
        if not template:
            ordinary += mine

    own = [Array(random, names.pop()) for _ in range(random.randint(1, 6))]
    unread = random.sample(own, len(own) // 3) if feature == "unused" else []
    steps = [(a.declaration, a) for a in own] + calls
    random.shuffle(steps)
    own = [a for _, a in steps if isinstance(a, Array) and a not in unread]
    for what, arrays in steps:
        if isinstance(arrays, Array):
            text.append(what)
            if feature != "late" and (arrays not in unread or random.random() < 0.5):
                text.append(arrays.put())
        else:
            text.append(f"s += {what}(p, s, i);")
            reported += arrays
            if what.endswith(">"):
                templates += arrays
    if feature == "late":  # half of the arrays in a scope of their own, used in another order
        first, last = own[:len(own) // 2], own[len(own) // 2:]
        text = [a.declaration for a in first] + [a.put() for a in first] + ["__syncthreads();", "if (i >= 0) {"]
        text += ([a.get() for a in first] + [a.declaration for a in last]
                 + [a.put() for a in random.sample(last, len(last))])
        text += ["__syncthreads();"] + [a.get() for a in last]
    else:
        text += ([a.put() for a in files] + ["__syncthreads();"]
                 + [a.get() for a in random.sample(files + own, len(files + own))])
    dynamic = None
    if feature == "extern":
        dynamic = Array(random, "dynamic" + str(number))
        text.insert(0, f"extern __shared__ {dynamic.type} {dynamic.name}[];")
        text += [dynamic.put(), "__syncthreads();", dynamic.get()]
    text += [f"WHERE({a.name});" for a in files + own + ([dynamic] if dynamic else [])]
    reported += files + own + ([dynamic] if dynamic else [])
    if feature == "late":
        text.append("}")

    template = feature.startswith("template")
    head += ["template <class T>" if template else 'extern "C"',
             f"__global__ void kernel{number}(volatile unsigned* p, {'T' if template else 'float'} f, int i)",
             "{", "float s = f;", *text, "*p = unsigned(s);", "}"]
    if template:
        head.append(f"template __global__ void kernel{number}<float>(volatile unsigned*, float, int);")
    return "\n".join(head), files + ordinary + templates + own, dynamic, reported


def stored(disassembly):
    """What each function stores to global memory, where it is a constant: {name: [number or None]}. No branches."""
    found = {}
    for name, body in re.findall(r"^\s*(?:\.text\.|Function : )(\w+):?\n(.*?)(?=^\s*(?:\.text\.|Function : )|\Z)",
                                 disassembly, re.M | re.S):
        registers, stores = {"RZ": 0, "URZ": 0}, []

        def value(text):
            text = text.replace(".reuse", "").strip()
            return int(text, 16) if re.fullmatch(r"-?0x[0-9a-f]+", text) else registers.get(text)

        for line in re.findall(r"/\*[0-9a-f]{4,}\*/\s+([^;]*?)\s*;", body):
            code, _, rest = re.sub(r"^@\S+\s+", "", line).partition(" ")
            name_, arguments = code.split(".")[0], [x.strip() for x in rest.split(",")]
            if name_ == "STG":
                stores.append(value(arguments[-1]))
            if not re.fullmatch(r"U?R\d+", arguments[0]):
                continue
            v, result = [value(x) for x in arguments[1:] if x not in ("UPT", "PT") and x[0] != "!"], None
            if name_ in ("MOV", "UMOV"):
                result = v[0]
            elif name_ in ("S2R", "S2UR", "S2") and arguments[1] == "SR_CgaCtaId":
                result = 0
            elif name_ in ("IADD3", "UIADD3", "VIADD", "IADD") and None not in v:
                result = sum(v)
            elif name_ in ("LEA", "ULEA") and len(v) == 3 and None not in v:
                result = (v[0] << v[2]) + v[1]
            elif name_ == "IMAD" and len(v) == 3 and None not in v:
                result = v[0] * v[1] + v[2]
            elif name_ == "HFMA2" and re.fullmatch(r"-?RZ", arguments[1]):  # a constant as two halves
                try:
                    result = int.from_bytes(struct.pack("<ee", float(arguments[-1]), float(arguments[-2])), "little")
                except ValueError:
                    pass
            registers[arguments[0]] = result
        found[name] = stores
    return found


def compiled(text, architecture, folder):
    """Of each kernel, the offsets that it reports."""
    source, cubin = folder / "layout.cu", folder / "layout.cubin"
    source.write_text(text)
    done = subprocess.run(["nvcc", f"-arch=sm_{architecture}", "-w", "-cubin", "-o", cubin, source],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    tool = ["nvdisasm", "-c"] if shutil.which("nvdisasm") else ["cuobjdump", "-sass"]
    return stored(subprocess.run([*tool, cubin], capture_output=True, text=True, check=True).stdout)


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=60, help="kernels of each sort")
    parser.add_argument("--show", action="store_true", help="print wrong predictions, and count those known to fail")
    options = parser.parse_args()
    if not shutil.which("nvcc") or not (shutil.which("nvdisasm") or shutil.which("cuobjdump")):
        print("layout: skipped: needs nvcc and nvdisasm or cuobjdump on PATH")
        return 0
    wrong = 0
    known = ["inline helpers"] if options.show else []
    for feature in ["plain", "template", "unused", "late", "file", "helpers", "template helpers", "extern"] + known:
        rng = random.Random(f"{feature} {options.seed}")
        cases = [case(rng, number, feature) for number in range(options.cases)]
        for architecture, reserved in ARCHITECTURES.items():
            with tempfile.TemporaryDirectory() as folder:
                # A function that is inlined depends on the rest of the file: one kernel each.
                files = [c[0] for c in cases] if feature in known else ["\n".join(c[0] for c in cases)]
                if feature in known and architecture != 80:
                    continue
                found = {}
                for text in files:
                    found.update(compiled(PRELUDE + text, architecture, pathlib.Path(folder)))
            right = largest = 0
            for number, (_, arrays, dynamic, reported) in enumerate(cases):
                (stores,) = [s for name, s in found.items() if re.fullmatch(rf"(_Z\d+)?kernel{number}(I.*)?", name)]
                offsets = dict(zip([a.name for a in reported], stores))
                largest = max(largest, dynamic.alignment) if dynamic else 0
                expected = layout([(a.bytes, a.alignment) for a in arrays], largest)
                names = [a.name for a in arrays + ([dynamic] if dynamic else [])]
                same = offsets == {name: reserved + at for name, at in zip(names, expected)}
                right += same
                if not same and (options.show or feature not in known):
                    print(f"sm_{architecture}, {feature} {number}: predicted {dict(zip(names, expected))}, found "
                          f"{offsets}")
            print(f"{feature:17} sm_{architecture}: {right} of {len(cases)} kernels as predicted", flush=True)
            wrong += 0 if feature in known else len(cases) - right
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
