#!/usr/bin/env python3
"""Ends programs at random moments and looks at what they leave.

usage: python3 tools/moments.py [--seed N] [--count N]

Runs each program once to its end, and then --count times (50) until a moment drawn from the seed, when it gets SIGINT
or SIGTERM as from a terminal: all its processes do. It must end by that signal or with 130, or as if nothing had come.
It may not print a traceback, leave a file that is not whole, or change an old file but as a whole. Prints each fault
and a line of counts. Exits 1 if there is a fault. Which moments are drawn depends on how fast the machine is. What is
right does not. `make all lab-ready build/try/tests/sim/programs/vector_add` builds what it runs.
"""

import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from lessons import ROOT, STEPS
import command_line

PYTHON = sys.executable
DATA = ROOT / "plots/data"
SOLUTION = ROOT / "tests/lab/solutions/step04.cu"
# Files that a program may write, in the folder where it runs.
PROGRAMS = [
    *([ROOT / step, "--device", "sim", "--all", "--size", "256", "--csv", "a.csv", "--trace", "b.csv"] for step in STEPS
      if step not in ("step01", "step02")),
    *([ROOT / step, "--device", "sim", "--size", "512", "--csv", "a.csv"] for step in STEPS),
    [ROOT / "step03", "--errata"],
    ["env", "SIM_OPTIONS=--csv a.csv --trace b.csv", ROOT / "build/try/tests/sim/programs/vector_add"],
    [PYTHON, ROOT / "plots/tables.py", "book", DATA / "h200_book.csv", "--csv", "a.csv"],
    [PYTHON, ROOT / "plots/claims.py", DATA / "h200_book.csv"],
    [PYTHON, ROOT / "plots/report.py", DATA / "h200_book.csv", "--out", "report"],
    [PYTHON, ROOT / "lab/check.py", "04", "--file", SOLUTION],
    [PYTHON, ROOT / "lab/grade.py", ".", "--exercise", "4", "--jobs", "1", "--results", "grades"],
    [PYTHON, ROOT / "lab/prelab.py", "Ada Lovelace", "--results", "prelab"],
    ["bash", ROOT / "bench/measure.sh", "results"],
]


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def is_whole(name, text):
    """Written to its end: CSV and JSON in lines, pages with their last tag."""
    if name.endswith((".html", ".svg")): return text.rstrip().endswith((b"</html>", b"</svg>"))
    if name.endswith(".csv"):
        commas = {line.count(b",") for line in text.split(b"\n")[:-1] if b'"' not in line}
        return text.endswith(b"\n") and b"," in text.split(b"\n")[0] and len(commas) == 1
    return bool(text)


class Moments:
    def __init__(self, seed, programs=PROGRAMS):
        self.programs = programs
        self.random, self.counts, self.faults, self.seconds = random.Random(seed), collections.Counter(), [], {}

    def start(self, command, folder):
        return subprocess.Popen(command, cwd=ROOT if command[0] == "bash" else folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                                start_new_session=True,
                                env={**os.environ, "TMPDIR": str(folder / "tmp"), "MPLCONFIGDIR": str(folder / "tmp")})

    def prepare(self, folder):
        (folder / "tmp").mkdir()
        (folder / "a.csv").write_text("old,file\n1,2\n")
        (folder / "ada.cu").write_bytes(SOLUTION.read_bytes())
        return files(folder)

    def once(self, number):
        template = self.random.choice(self.programs)
        share, which = self.random.random(), self.random.choice([signal.SIGINT, signal.SIGTERM])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            old = self.prepare(folder)
            command = [
                str(folder / word) if word == "results" and template[0] == "bash" else str(word) for word in template]
            told = " ".join(map(str, template)).replace(f"{ROOT}/", "")
            if told not in self.seconds:
                began = time.monotonic()
                process = self.start(command, folder)
                # Of a run of minutes, the beginning.
                try: process.communicate(timeout=20)
                except subprocess.TimeoutExpired: self.end(process, signal.SIGKILL)
                self.seconds[told] = time.monotonic() - began
                return self.once_again(template, command, told, share, which, number)
            self.stop(command, folder, old, told, share, which, number)

    def once_again(self, template, command, told, share, which, number):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            old = self.prepare(folder)
            command = [
                str(folder / "results") if word.endswith("/results") and template[0] == "bash" else word
                for word in command]
            self.stop(command, folder, old, told, share, which, number)

    def end(self, process, number):
        try: os.killpg(process.pid, number)
        except ProcessLookupError: pass
        return process.communicate(timeout=600)[1]

    def stop(self, command, folder, old, told, share, which, number):
        process = self.start(command, folder)
        try: process.wait(share * self.seconds[told])
        except subprocess.TimeoutExpired: pass
        said = self.end(process, which)
        self.counts["moments"] += 1
        self.counts["ended by the signal" if process.returncode in (130, -which, 128 + which)
                    else f"status {process.returncode}"] += 1

        def fault(what): self.faults.append(f"moment {number}: {told}: {which.name} after {share:.3f} of "
                                            f"{self.seconds[told]:.2f} s: {what}")

        if process.returncode not in (0, 130, -which, 128 + which):
            fault(f"exit status {process.returncode}: {said[-300:]}")
        if "Traceback" in said or "terminate called" in said: fault(said[-600:])
        now = files(folder)
        for name, text in now.items():
            if name.startswith("tmp/"):
                if "matplotlib" not in name and "fontlist" not in name: fault(f"left behind: {name}")
            elif name.split("/")[-1].startswith(".new-"): fault(f"left behind: {name}")
            elif text != old.get(name) and not is_whole(name, text):
                fault(f"not whole: {name}, {len(text)} bytes: {text[-80:]!r}")
        for name in old.keys() - now.keys(): fault(f"gone: {name}")
        self.counts["new files"] += len(now.keys() - old.keys())

    def run(self, count):
        for number in range(count): self.once(number)
        return self.faults


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    moments = Moments(options.seed)
    print("\n".join(moments.run(options.count)))
    print(f"seed {options.seed}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(moments.counts.items())) +
          f"; {len(moments.faults)} faults")
    return 1 if moments.faults else 0


if __name__ == "__main__":
    sys.exit(main())
