#!/usr/bin/env python3
"""What Nsight Compute prints for programs of the tests, in both of its formats: the files of tests/data/ncu, which
plots/ncu_join.py reads.

usage: python3 tools/ncu_files.py --out DIR

Runs on a machine with a GPU, the CUDA Toolkit and Nsight Compute; takes two minutes. Writes DIR/PROGRAM.FORMAT.csv
for each format below, and DIR/files.csv with the machine, the driver, the version of ncu and the date of each. Of the
page raw, only the columns that are read are kept. Exits 1 if a program or ncu fails.
"""

import csv
import io
import pathlib
import re
import sys
import tempfile

from gpu import at_once, expect, failures, machine, write
from lessons import NCU, ROOT, run
import command_line

PROGRAMS = ["ncu", "merges", *(f"programs/{name}" for name in (
    "histogram", "matrix_mul", "reduction", "scan", "structures", "symbols", "transpose", "vector_add"))]
COUNTS = ",".join(row.metric for row in NCU if row.column and row.count and row.way == "1")
# For each format: options of ncu, and the programs.
FORMATS = {
    "raw": (["--csv", "--page", "raw", "--print-units", "base", "--metrics", COUNTS], PROGRAMS),
    "long": (["--csv", "--metrics", COUNTS], ["programs/histogram"])}
READ = {"ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "CC", *(row.metric for row in NCU)}


def with_fewer_columns(text):
    """The page raw with the columns that are read."""
    begin = text.index('"ID"')
    rows = list(csv.reader(io.StringIO(text[begin:])))
    kept = [i for i, name in enumerate(rows[0]) if name in READ]
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([row[i] for i in kept] for row in rows)
    return text[:begin] + out.getvalue()


def printed(program, how):
    """What ncu prints for a program in a format."""
    command = ["ncu", *FORMATS[how][0], program]
    done = run(*command, timeout=300)
    expect(done.returncode == 0, f"{command}: {done.stdout[-500:]} {done.stderr[-500:]}")
    text = re.sub(r"(?<=process )\d+", "1", done.stdout + done.stderr)
    return with_fewer_columns(text) if how == "raw" else text


def compiled(name, folder):
    return run("nvcc", "-O3", "-std=c++17", "-arch=native", "-lineinfo", "-o", folder / pathlib.Path(name).name,
               ROOT / f"tests/sim/{name}.cu", timeout=300)


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as built:
        folder = pathlib.Path(built)
        for name, done in zip(PROGRAMS, at_once([(name, folder) for name in PROGRAMS], compiled, 8)):
            expect(done.returncode == 0, f"nvcc on {name}: {done.stdout} {done.stderr}")
        rows, version = [], re.search(r"Version (\S+)", run("ncu", "--version").stdout)[1]
        for how, (_, names) in FORMATS.items():
            for name in (pathlib.Path(name).name for name in names):
                (options.out / f"{name}.{how}.csv").write_text(printed(folder / name, how))
                rows.append({**machine(), "ncu": version, "file": f"{name}.{how}.csv"})
        write(options.out / "files.csv", rows)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
