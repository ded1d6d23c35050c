#!/usr/bin/env python3
"""The programs under the compiler's sanitizers: `make sanitize`, or python3 tools/sanitize.py

usage: python3 tools/sanitize.py [--work DIR] [--only address|thread] [--all] [--jobs N]

Builds copies of the tree below DIR with SANITIZE=address,undefined and with SANITIZE=thread, and runs step 4 with all
its kernels and errata, as a user would. --all: every step in four types, the tests in C++ (but places, which reads its
own debug information for minutes), the planted faults and the language. Prints a line for each run. tools/sanitized.cu
has a fault for each sanitizer, which it must report. Exits 1 if a sanitizer reports something else, or misses a fault.

  --work DIR   where the copies are built (default: a temporary folder); one that is there already is brought up to date

What they cannot see:
- Kernels under AddressSanitizer and ThreadSanitizer. Their files are compiled with -fsanitize=thread for the
  simulator's own hooks, and compilers refuse both at once. The simulator itself checks the accesses of kernels: bounds,
  races, memory that was never written. UBSan sees kernels; without their array indices, which are the simulator's, too.
- The host code of kernel files, that is the launchers, for the same reason.
- AddressSanitizer: the red zones of a fiber's frames from before its last switch. Every switch is a call that never
  returns, which removes them.
- ThreadSanitizer: the callers of a reported place. Functions end on other fibers than they began on, so their entries
  are not recorded. Nor races between fibers, which take turns on one host thread.
- Schedules that did not happen. Races are found by the order of accesses, not by a crash, but only between accesses
  that ran.
- Limits of memory: AddressSanitizer reserves 20 TB of addresses. tests/steps/test_files.py tests them without it.
- nvcc's half, which compute-sanitizer checks on a card (tools/gpu.py).
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from compilers import PLAIN, STEPS, copy_tree
import command_line

REPORT = re.compile(r"(?:ERROR|WARNING): \w+Sanitizer: .*|.*: runtime error: .*")
KINDS = {"address": "address,undefined", "thread": "thread"}
PLANTED = {  # kernel of tools/sanitized.cu: which of them reports it, and how
    "sound": (None, None),
    "behindTheStack": ("address", "AddressSanitizer: stack-buffer-overflow"),
    "signedOverflow": ("address", "runtime error: signed integer overflow"),
    "racingHost": ("thread", "ThreadSanitizer: data race"),
}
# UBSan is right about the kernels of these: faults go behind local arrays, and sums of atomics_async overflow, as they
# do on a GPU.
LEFT_OUT = {("address", "tests/sim/atomics_async")}
SIZE = ["--device", "sim", "--size", "133x77"]


def programs(kind, everything):
    """(a program, its arguments, the exit statuses that it may have)"""
    steps, types = (STEPS, ["char", "float", "double", "double2"]) if everything else (["step04"], ["float"])
    for step in steps:
        for element in types:
            yield step, [*SIZE, "--all", "--type", element], {0}
        yield step, [*SIZE, "--explain", "--csv", "results.csv", "--trace", "trace.csv"], {0}
        yield step, ["--errata"], {0, 2}  # 2: it has none
    yield "step04", ["--size", "0"], {2}
    if everything:
        for name in ("steps/unit", "sim/rules", "sim/order"): yield f"build/tests/{name}", [], {0}
        for name in ("steps/planted", "sim/unusual/unusual"):
            if (kind, name) not in LEFT_OUT: yield f"build/tests/{name}", [*SIZE, "--all"], {0, 1}
        for name in PLAIN:
            if (kind, name) not in LEFT_OUT: yield f"build/try/{name}", [], {0, 1}
        yield "build/tests/steps/faulty_gpu", ["--size", "33x65", "--all", "--once"], {0}


def check(kind, folder, everything, jobs):
    """The number of runs that are not as they should be."""
    copy_tree(folder)
    runs = list(programs(kind, everything))
    targets = sorted({program for program, *_ in runs} | {"build/tools/sanitized"})
    built = subprocess.run(["make", "-s", "NVCC=", f"JOBS={jobs}", f"SANITIZE={KINDS[kind]}", *targets], cwd=folder,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if built.returncode:
        print(f"{kind}: does not build:\n{built.stderr[-3000:]}")
        return 1
    bad = 0
    planted = [("build/tools/sanitized", ["--size", "96", "--kernel", kernel], of == kind and words)
               for kernel, (of, words) in PLANTED.items()]
    for program, arguments, statuses in runs + planted:
        done = subprocess.run([folder / program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace",
                              env=os.environ | {"ASAN_OPTIONS": "", "TSAN_OPTIONS": "", "UBSAN_OPTIONS": ""})
        found = REPORT.findall(done.stdout + done.stderr)
        if isinstance(statuses, set):
            right, expected = not found and done.returncode in statuses, "nothing"
        else:
            right = bool(statuses) == bool(found) and (not statuses or statuses in found[0])
            expected = statuses or "nothing"
        bad += not right
        print(f"{'ok    ' if right else 'FAILED'}  {kind:8}{program} {' '.join(arguments)}: "
              f"{found[0] if found else 'nothing'}"
              + ("" if right
                 else f"; expected {expected}; exit status {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}"),
              flush=True)
    print(f"{kind}: {len(runs) + len(planted)} runs, {bad} not as expected", flush=True)
    return bad


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.work or pathlib.Path(temporary)).resolve()
        return 1 if sum(check(kind, work / kind, options.all, options.jobs) for kind in KINDS
                        if options.only in (None, kind)) else 0


if __name__ == "__main__":
    sys.exit(main())
