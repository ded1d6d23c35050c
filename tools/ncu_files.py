#!/usr/bin/env python3
"""What Nsight Compute prints for programs of the tests, in each of its formats: the files of tests/data/ncu, which
`make try` reads with SIM='--ncu FILE'.

usage: python3 tools/ncu_files.py --out DIR

Runs on a machine with a GPU, the CUDA Toolkit and Nsight Compute; takes five minutes. Writes DIR/PROGRAM.FORMAT.csv
for each format below, and DIR/files.csv with the machine, the driver, the version of ncu and the date of each. Of the
page raw, only the columns that are read are kept, and of the page source, only the lines and instructions that access
memory. The others are whole. Paths begin at the checkout. Exits 1 if a program or ncu fails.
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
# The metrics of the page source that are read.
LINES = ("inst_executed,thread_inst_executed_true,memory_type,memory_access_type,memory_l1_wavefronts_shared,"
         "memory_l2_theoretical_sectors_global")
SOURCE = ["--csv", "--page", "source"]
# For each format: options of ncu, options of a second ncu that prints the report of the first, if there is one, and
# the programs.
FORMATS = {
    "raw": (["--csv", "--page", "raw", "--print-units", "base", "--metrics", COUNTS], None, PROGRAMS),
    "long": (["--csv", "--metrics", COUNTS], None, ["programs/histogram"]),
    "default": (["--csv"], None, ["programs/vector_add"]),
    "function": (["--csv", "--page", "raw", "--print-kernel-base", "function", "--metrics", COUNTS], None, ["ncu"]),
    "mangled": (["--csv", "--page", "raw", "--print-kernel-base", "mangled", "--metrics", COUNTS], None, ["ncu"]),
    "failed": (["--csv", "--metrics", "nosuch"], None, ["ncu"]),
    "full": (["--set", "full", "--import-source", "yes"], ["--csv", "--page", "raw"], ["ncu"]),
    "lines": (["--metrics", LINES, "--import-source", "yes"], [*SOURCE, "--print-source", "cuda,sass"], PROGRAMS),
    "sass": (["--metrics", LINES, "--import-source", "yes"], SOURCE, ["programs/vector_add"]),
    "section": (["--section", "SourceCounters", "--import-source", "yes"], [*SOURCE, "--print-source", "cuda,sass"],
                ["programs/vector_add"])}
READ = {"ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "CC", *(row.metric for row in NCU)}


def with_fewer_columns(text):
    """The page raw with the columns that are read."""
    begin = text.index('"ID"')
    rows = list(csv.reader(io.StringIO(text[begin:])))
    kept = [i for i, name in enumerate(rows[0]) if name in READ]
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([row[i] for i in kept] for row in rows)
    return text[:begin] + out.getvalue()


def with_fewer_rows(text):
    """The page source without lines and instructions that access no memory. It is no CSV: quotes are not doubled."""
    kept, types = [], None
    for line in text.splitlines():
        cells = line.strip('"').split('","')
        if cells[0] == "Line No":
            types = cells.index("memory_type") - len(cells)
        if len(cells) < 5 or cells[0] == "Line No" or cells[types] != "-":
            kept.append(line)
    return "\n".join(kept) + "\n"


def stripped(text, how, *folders):
    """What is kept of a file."""
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    text = re.sub(r"(?<=process )\d+", "1", text)
    if how in ("raw", "function", "mangled", "full"):
        return with_fewer_columns(text)
    return with_fewer_rows(text) if how == "lines" else text


def printed(program, how):
    """What ncu prints for a program in a format."""
    options, page, _ = FORMATS[how]
    report = program.with_suffix(".ncu-rep")
    commands = [["ncu", *options, *(["-f", "-o", report] if page else []), program]]
    if page:
        commands.append(["ncu", "--import", report, *page])
    for command in commands:
        done = run(*command, timeout=300)
        expect(done.returncode == 0 or how == "failed", f"{command}: {done.stdout[-500:]} {done.stderr[-500:]}")
    return stripped(done.stdout + done.stderr, how, ROOT, program.parent)


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
        for how, (_, _, names) in FORMATS.items():
            for name in (pathlib.Path(name).name for name in names):
                (options.out / f"{name}.{how}.csv").write_text(printed(folder / name, how))
                rows.append({**machine(), "ncu": version, "file": f"{name}.{how}.csv"})
        write(options.out / "files.csv", rows)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
