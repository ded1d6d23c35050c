#!/usr/bin/env python3
"""What nvcc makes of the lessons and of the way to step 7: registers, loads, stores, and how many loads come in a row.

usage: python3 tools/instructions.py

Compiles them for sm_90 as mk/compile.mk does, and writes plots/data/instructions.csv. Loops are unrolled there, so an
instruction runs at most once in a thread. `loads_in_a_row` are the most loads of global memory with no store between
them, in the order of the machine code. A store waits for its element, so that many loads are in flight together. It
needs nvcc and cuobjdump, and no GPU.
"""

import pathlib
import re
import subprocess
import tempfile

from lessons import LESSONS, ROOT, write
import command_line
import merges
from facts import RUNGS

DATA = ROOT / "plots/data/instructions.csv"
TYPES = {"c": "char", "t": "half", "f": "float", "d": "double", "7double2": "double2"}
KINDS = ("LDG", "STG", "LDS", "STS")
KERNELS = [*dict.fromkeys([*(kernel for kernel, step in LESSONS.items() if step != "step08"), "copyRowRestrict",
                           *RUNGS])]
FUNCTION = re.compile(rf"_Z\d+({'|'.join(KERNELS)})I({'|'.join(TYPES)})((?:Li\d+E)*)E\w*")


def nvcc_version():
    said = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"release ([\d.]+)", said)[1]


def compiled(source, folder):
    """{(kernel, type): row} of the kernels in one file. Of step 7's, the one whose tiles do not overlap."""
    binary = pathlib.Path(folder) / "kernels.cubin"
    subprocess.run(["nvcc", "-std=c++17", "-I.", "-O3", "-arch=sm_90", "-w", "-cubin", "-o", binary, source], cwd=ROOT,
                   check=True)

    def said(option):
        command = [merges.disassembler(), option, binary]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    registers = dict(re.findall(r"Function (\w+):\n.*?REG:(\d+)", said("-res-usage")))
    rows = {}
    for part in said("-sass").split("Function : ")[1:]:
        function = FUNCTION.match(part)
        if not function or function[3] and not function[3].endswith("Li0E"): continue
        order = re.findall(r"\b(LDG|STG|LDS|STS)\.?[\w.]* ", part)
        rows[function[1], TYPES[function[2]]] = {
            "registers": registers[function[0]], **{kind.lower(): order.count(kind) for kind in KINDS},
            "loads_in_a_row": max(run.split().count("LDG") for run in re.split("ST[GS]", " ".join(order)))}
    return rows


def all_rows():
    found, version = {}, nvcc_version()
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(ROOT.glob("step0[1-7]_*/*.cu")):
            if "exercise" not in source.stem and re.search(rf"__global__ void ({'|'.join(KERNELS)})\(",
                                                           source.read_text()):
                found |= compiled(source, folder)
    return [{"nvcc": version, "arch": "sm_90", "kernel": kernel, "type": element, **found[kernel, element]}
            for kernel in KERNELS for element in TYPES.values()]


def main():
    command_line.parser(__doc__).parse_args()
    rows = all_rows()
    write(DATA, rows)
    print(f"{len(rows)} rows: {DATA.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
