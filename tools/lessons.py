"""The lesson kernels and the shapes they are tested on. No dependencies: tests and scripts share it."""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

sys.path.append(str(ROOT / "plots"))

from facts import METRICS, NCU  # noqa: F401 (for the other tools)
from facts import PROGRAMS as LESSONS

STEPS = sorted(set(LESSONS.values()))
# What was recorded of the lesson kernels, by kernel: source_row and produces among others.
MODELLED = {row["kernel"]: row for row in csv.DictReader((ROOT / "plots/data/gtx280_model.csv").open(encoding="utf-8"))}
TYPES = ["char", "half", "float", "double", "int", "double2"]
NUMBERS = ["float", "double", "int"]  # of kernels that compute

COUNTERS = {  # ours: Nsight Compute's, in the CSV of tools/gpu.py
    "global_load_requests": "global_load_requests",
    "global_load_transactions": "global_load_sectors",
    "global_store_requests": "global_store_requests",
    "global_store_transactions": "global_store_sectors",
    "shared_load_wavefronts": "shared_load_wavefronts",
    "shared_store_wavefronts": "shared_store_wavefronts",
}

# width, height
SHAPES = [
    (1, 1), (2, 1), (1, 2), (1, 31), (1, 32), (1, 33), (31, 1), (32, 1), (33, 1), (1, 1000), (1000, 1),
    (31, 31), (32, 32), (33, 33), (31, 33), (33, 31), (32, 64), (64, 32), (63, 65), (65, 63),
    (7, 11), (13, 97), (97, 13), (127, 127), (128, 128), (129, 129), (101, 211), (257, 131),
    (5, 2003), (2003, 5), (40, 1024), (1024, 40), (36, 100), (100, 36), (512, 32),
]

# Planted wrong kernels: tests/steps/planted.cu has one of each fault for each kind, and their right twins.
KINDS = ["copy", "transpose", "fine", "coarse"]
TWINS = ["right", "rightThroughTile"]
# The fault, and what the report must say of it (a regular expression): on a GPU, on the simulator.
FAULTS = {
    "forgetBarrier": ("no element of the input|as in idata row",
                      "race: read-after-write hazard .* writes at tests/steps/planted.cu:.* reads at "
                      "tests/steps/planted.cu:"),
    "writeNothing": ("never written",) * 2,
    "wrongKind": ("found .* \\((as in )?idata row",) * 2,
    "dropLastRow": ("never written",) * 2,
    "dropLastColumn": ("never written",) * 2,
    "swapTwo": (": 2 of 6700 elements differ",) * 2,
    "offByOneTile": ("found .* \\((as in )?idata row",) * 2,
    "writeBehind": ("written out of bounds: .* bytes, the first . bytes past the end of the matrix",
                    "out-of-bounds store of .* bytes at byte (6700|13400|26800|53600|107200) of odata: thread .* at "
                    "tests/steps/planted.cu:"),
    "writeInFront": ("written out of bounds: .* bytes, the first .* bytes before the start of the matrix",
                     "out-of-bounds store of (.*) bytes at byte -\\1 of odata: thread .* at tests/steps/planted.cu:"),
    "overwriteInput": ("differ", "store to the input, of .* bytes at byte .* at tests/steps/planted.cu:"),
    "rightOnce": (": 1 of 6700 elements differ",) * 2,
}


# Every row of the sources' kernels, and every published fault.
SOURCE_ROWS = [f"W{i}" for i in range(1, 13)] + [f"B{i}" for i in range(1, 11)] + [f"F{i}" for i in range(1, 10)] + \
    [f"C{i}" for i in range(1, 5)] + ["R1"]
ERRATA = [f"E{i}" for i in range(1, 35)]

# Kernels that have not been on a GPU yet: no row of tests/data is about them. None that has one may stay here. `python3
# tools/gpu.py --out DIR new` measures them, into DIR/new.
UNMEASURED = set()


def listed(program):
    """The rows of `--list --csv` of a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "list.csv")
        assert run(ROOT / program, "--list", "--csv", path).returncode == 0
        return list(csv.DictReader(path.open(encoding="utf-8")))


def kernels(*roles):
    """What the programs list: dictionaries of step, program, kernel, role, on, produces, rows (a list)."""
    found = []
    for program in STEPS:
        for row in listed(program):
            entry = {**row, "program": program, "rows": row["source_rows"].split()}
            if not roles or entry["role"] in roles:
                found.append(entry)
    return found


def is_for(kernel, element):
    """Those that add elements are for the types that C++ adds."""
    return element not in ("half", "double2") or not kernel["produces"].startswith("sum")


def computing(process, seconds):
    """Waits until a process has used that much processor time, however busy the machine is; or has ended."""
    while process.poll() is None:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if sum(map(int, fields[11:13])) >= seconds * os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.02)


def catching(process, number):
    """Waits until a process has a handler for a signal, however busy the machine is; or has ended."""
    while process.poll() is None:
        caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text(), re.M)
        if caught and int(caught[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.02)


def run(*command, cwd=ROOT, env=None, timeout=600):
    """Runs a program and returns its CompletedProcess, output as text. Never raises on failure."""
    return subprocess.run([str(c) for c in command], cwd=cwd, env=env, timeout=timeout,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def write(path, rows):
    """Writes dictionaries with the same keys as CSV."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def made(target):
    """The path of a program of the checkout. `make test` has built it; make builds it anew after a change, with the
    flags of the make that runs the tests. Others would link it a second time, while another test runs it."""
    done = run("make", "-s", target)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / target


def copy_built(folder, *names):
    """Copies to another copy of the project what has been built, by names below build/. Nothing else there: files come
    and go while other tests run."""
    headers = ["kernels.h", "machines.h"]
    for name in (*headers, "commands", "rewrite", "common", "sim", *names):
        source, copy = ROOT / "build" / name, folder / "build" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy2(source, copy)


def make_try(file, *variables):
    """`make try FILE=file`, and the variables that it is given, SIM=--quiet say."""
    return run("make", "-s", "try", f"FILE={file}", *variables)


def tried_of(folder):
    """Where `make try` leaves what it has built of a folder's programs."""
    return ROOT / "build/tried" / re.sub(r"[^A-Za-z0-9=+-]", "_", str(folder))[-199:]
