#!/usr/bin/env python3
"""The speed of this simulator over that of another commit's: both are built and run in turns.

usage: python3 tools/bench_against.py COMMIT [--rounds 5]        (make bench-sim AGAINST=COMMIT)

Prints, for each lesson at 1024 x 1024, the median over the rounds of the ratio of their traced accesses per second, and
the least and greatest: traced alone; counted and checked by one host thread; by all. Exits 1 if a median of one host
thread is below 0.95, and 2 if the commit cannot be built. A lesson that the other commit has not is named.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from lessons import ROOT
import command_line

COLUMNS = ("traced", "one host thread", "all host threads")


def built(folder):
    # Other commits may have the program elsewhere.
    source = next(path.relative_to(folder) for path in pathlib.Path(folder).glob("t*/bench_sim.cpp"))
    program = f"build/{source.with_suffix('')}"
    done = subprocess.run(["make", "-s", "-C", folder, "NVCC=", program], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench_against: {folder}: cannot be built: {done.stderr.strip().splitlines()[-1]}")
    return pathlib.Path(folder) / program


def rates(program):
    """{kernel: the three rates}, in 10^6 accesses/s."""
    out = subprocess.run([program], capture_output=True, text=True).stdout
    rows = re.findall(r"^(\w+) +1024 +\d+ +([\d.]+) \+- +\d+ % +([\d.]+) \+- +\d+ % +([\d.]+)", out, re.MULTILINE)
    return {name: [float(v) for v in values] for name, *values in rows}


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("commit")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cloned = (subprocess.run(["git", "clone", "-q", ROOT, folder]).returncode
                  or subprocess.run(["git", "-C", folder, "checkout", "-q", arguments.commit]).returncode)
        if cloned:
            sys.exit(2)
        programs = built(ROOT), built(folder)
        rounds = [tuple(map(rates, programs)) for _ in range(arguments.rounds)]
    slow = False
    print(f"{'this / ' + arguments.commit:28}" + "".join(f"{c:>28}" for c in COLUMNS))
    for kernel in rounds[0][0]:
        if kernel not in rounds[0][1]:
            print(f"{kernel:28}{'not there':>14}")
            continue
        ratios = [[new[kernel][c] / old[kernel][c] for new, old in rounds] for c in range(3)]
        slow |= statistics.median(ratios[1]) < 0.95
        print(f"{kernel:28}" + "".join(f"{statistics.median(r):14.3f} ({min(r):.3f} to {max(r):.3f})" for r in ratios))
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
