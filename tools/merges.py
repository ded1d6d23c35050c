#!/usr/bin/env python3
"""What nvcc makes of accesses that compilers merge, drop or repeat: the kernels of tests/sim/merges.cu, and random ones
without branches.

usage: python3 tools/merges.py

Compiles them for sm_90, and writes tests/data/nvcc_merges.csv: how many instructions of each kind a kernel has. It
needs nvcc and cuobjdump of the CUDA Toolkit, and no GPU.

One warp runs each kernel. No access is in a loop after nvcc has compiled it, and some lane takes each branch. So each
instruction is one request on a card: tests/data/ncu/merges.raw.csv has what Nsight Compute counted for the forms.
"""

import collections
import csv
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

from lessons import METRICS, ROOT, write
import command_line

FORMS = ROOT / "tests/sim/merges.cu"
DATA = ROOT / "tests/data/nvcc_merges.csv"
CARD = ROOT / "tests/data/ncu/merges.raw.csv"
KERNELS = 200
KINDS = {"LDG": "global_loads", "STG": "global_stores", "LDS": "shared_loads", "STS": "shared_stores",
         "REDG": "atomics", "ATOMG": "atomics", "RED": "atomics"}


def kernel(number, chosen):
    """Some loads and stores of two arrays that are written, one that is read, and one in shared memory."""
    restrict = "__restrict__ " if chosen.random() < .4 else ""
    lines = [f"__global__ void k{number}(int* {restrict}a, int* {restrict}b, const int* {restrict}x)", "{",
             "    __shared__ int s[128];", "    const int i = threadIdx.x;",
             "    for (int k = 0; k < 128; k += 32) s[i + k] = i;", "    __syncthreads();"]
    values = ["i"]

    def place(arrays):
        return f"{chosen.choice(arrays)}[{chosen.choice(['i', 'i', 'i', 'i + 32', '31 - i', '2 * i', 'i ^ 1'])}]"

    for k in range(chosen.randint(3, 7)):
        kind = chosen.random()
        if kind < .3:
            lines.append(f"    const int v{k} = {place('xxxabs')}{chosen.choice(['', ' + 1', ' * 3'])};")
            values.append(f"v{k}")
        elif kind < .5: lines.append(f"    {place('abs')} = {place('xxxabs')};")
        elif kind < .65:
            lines.append(f"    {place('abs')} = {chosen.choice(values)}{chosen.choice(['', ' + 5', ' * 7'])};")
        elif kind < .8:
            lines.append(f"    {place('abs')} = {place('xxxabs')} * {place('xxxabs')} + {chosen.choice(values)};")
        elif kind < .93: lines.append(f"    {place('abs')} += {place('xxxabs')};")
        else: lines.append("    __syncthreads();")
    total = " + ".join(f"{factor} * {value}" for factor, value in enumerate(values, 2))
    lines += [f"    b[i + 64] = {total};", "    __syncthreads();", "    a[i + 96] = s[i * 5 % 128];", "}"]
    return "\n".join(lines)


def program():
    """All random kernels, and a main() that launches each."""
    chosen = random.Random(5)
    kernels = [kernel(number, chosen) for number in range(KERNELS)]
    launches = [f"    k{number}<<<1, 32>>>(a, b, x);" for number in range(KERNELS)]
    memory = [f"    cudaMalloc(&{p}, 1024);\n    cudaMemset({p}, 0, 1024);" for p in "abx"]
    body = ["    int *a, *b, *x;", *memory, *launches, "    return cudaDeviceSynchronize();"]
    return "\n\n".join([*kernels, "\n".join(["int main()", "{", *body, "}", ""])])


def disassembler():
    nvcc = shutil.which("nvcc")
    beside = nvcc and pathlib.Path(nvcc).resolve().parent / "cuobjdump"
    return shutil.which("cuobjdump") or (str(beside) if beside and beside.exists() else None)


def instructions(source, folder):
    """{kernel: {kind: number}}"""
    binary = pathlib.Path(folder) / "kernels.cubin"
    subprocess.run(["nvcc", "-std=c++17", "-arch=sm_90", "-w", "-cubin", "-o", binary, source], check=True)
    counts, name = collections.defaultdict(collections.Counter), None
    text = subprocess.run([disassembler(), "-sass", binary], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        if function := re.search(r"Function : _Z(\d+)(\w+)", line):
            name = function[2][:int(function[1])]
            counts[name]
        elif access := re.search(rf"\b({'|'.join(KINDS)})\.?[\w.]* ", line): counts[name][KINDS[access[1]]] += 1
    return counts


def all_rows():
    with tempfile.TemporaryDirectory() as folder:
        random_kernels = pathlib.Path(folder) / "random.cu"
        random_kernels.write_text(program())
        return [{"kernels": what, "kernel": name, **{kind: counts[kind] for kind in dict.fromkeys(KINDS.values())}}
                for what, source in (("forms", FORMS), ("random", random_kernels))
                for name, counts in sorted(instructions(source, folder).items())]


# Nsight Compute's metrics for each kind. No access of these kernels has a bank conflict, so a wavefront is
# a request, but for the neighbours in shared memory: 8 bytes per lane take two.
COUNTED = {kind: [METRICS[column] for column in columns] for kind, columns in {
    "global_loads": ["global_load_requests"], "global_stores": ["global_store_requests"],
    "shared_loads": ["shared_load_wavefronts"], "shared_stores": ["shared_store_wavefronts"],
    "atomics": ["global_atomic_requests", "global_reduction_requests"]}.items()}


def counted(report):
    """{kernel: {kind: requests}} on a card, from what ncu --csv --page raw printed."""
    lines = report.splitlines(keepends=True)
    table = lines[next(i for i, line in enumerate(lines) if line.startswith('"ID"')):]
    return {row["Kernel Name"].split("(")[0]: {
        kind: sum(int(row[metric]) for metric in metrics) for kind, metrics in COUNTED.items()}
            for row in list(csv.DictReader(table))[1:]}  # the first has the units


def main():
    command_line.parser(__doc__).parse_args()
    rows = all_rows()
    write(DATA, rows)
    print(f"{len(rows)} kernels: {DATA.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
