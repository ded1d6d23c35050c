#!/usr/bin/env python3
"""The programs under the compiler's sanitizers: `make sanitize`, or python3 tools/sanitize.py

usage: python3 tools/sanitize.py [--only address|thread] [--all] [--jobs N]

Builds copies of the tree in a temporary folder, with SANITIZE=address,undefined and with SANITIZE=thread, and runs step
4 with all its kernels and errata, as a user would. --all: every step in four types, and the tests in C++. Prints a line
for each run. Exits 1 if a sanitizer reports something, or a program ends as it should not.

What they cannot see:
- Kernels under AddressSanitizer and ThreadSanitizer. Their files are compiled with -fsanitize=thread for the
  simulator's own hooks, and compilers refuse both at once. The simulator itself checks the accesses of kernels. UBSan
  sees kernels, without their array indices, which are the simulator's, too.
- The host code of kernel files, for the same reason.
- AddressSanitizer: the red zones of a fiber's frames from before its last switch.
- ThreadSanitizer: the callers of a reported place, and races between fibers, which take turns on one host thread.
- nvcc's half, which compute-sanitizer checks on a card (tools/gpu.py).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from lessons import ROOT, STEPS
import command_line

REPORT = re.compile(r"(?:ERROR|WARNING): \w+Sanitizer: .*|.*: runtime error: .*")
KINDS = {"address": "address,undefined", "thread": "thread"}
SIZE = ["--device", "sim", "--size", "133x77"]


def programs(everything):
    """(a program, its arguments, the exit statuses that it may have)"""
    steps, types = (STEPS, ["char", "float", "double", "double2"]) if everything else (["step04"], ["float"])
    for step in steps:
        yield from ((step, [*SIZE, "--all", "--type", element], {0}) for element in types)
        yield step, [*SIZE, "--explain", "--csv", "results.csv", "--trace", "trace.csv"], {0}
        yield step, ["--errata"], {0, 2}  # 2: it has none
    yield "step04", ["--size", "0"], {2}
    if everything:
        yield from ((f"build/tests/{name}", [], {0}) for name in ("steps/unit", "sim/rules", "sim/order"))
        yield "build/tests/steps/planted", [*SIZE, "--all"], {0, 1}
        yield "build/tests/steps/faulty_gpu", ["--size", "33x65", "--all", "--once"], {0}


def copy_tree(folder):
    """The sources that git knows or does not ignore, as they are now."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                           capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def check(kind, folder, everything, jobs):
    """The number of runs that are not as they should be."""
    copy_tree(folder)
    runs = list(programs(everything))
    built = subprocess.run(["make", "-s", "NVCC=", f"JOBS={jobs}", f"SANITIZE={KINDS[kind]}",
                            *sorted({program for program, *_ in runs})], cwd=folder, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if built.returncode:
        print(f"{kind}: does not build:\n{built.stderr[-3000:]}")
        return 1
    bad = 0
    for program, arguments, statuses in runs:
        done = subprocess.run([folder / program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace",
                              env=os.environ | {"ASAN_OPTIONS": "", "TSAN_OPTIONS": "", "UBSAN_OPTIONS": ""})
        said = done.stdout + done.stderr
        found = (REPORT.findall(said) or [""])[0]
        right = not found and done.returncode in statuses
        bad += not right
        print(f"{'ok    ' if right else 'FAILED'}  {kind:8}{program} {' '.join(arguments)}"
              + ("" if right else f": {found}; exit status {done.returncode}\n{said[-3000:]}"), flush=True)
    print(f"{kind}: {len(runs)} runs, {bad} not as expected", flush=True)
    return bad


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        return 1 if sum(check(kind, pathlib.Path(work, kind), options.all, options.jobs) for kind in KINDS
                        if options.only in (None, kind)) else 0


if __name__ == "__main__":
    sys.exit(main())
