#!/usr/bin/env python3
"""The quick form of the tests, for who changes a kernel: `make check`, or python3 tools/check.py [stepNN...]

Every kernel of every step is verified in a few shapes and types, and the lessons' requests are held against what Nsight
Compute counted on an H200 (tests/data/h200_profile.csv). Prints a line for each step. Exits 1 if a kernel is wrong or
its counts differ, 2 for an unknown step. A kernel that was changed on purpose may well count otherwise: tools/gpu.py
measures it anew. `make test` runs all tests.
"""

import csv
import pathlib
import sys
import tempfile

from lessons import COUNTERS, LESSONS, ROOT, STEPS, is_for, kernels, run
import command_line

TYPES = ["char", "float", "double2"]
SHAPES = ["1x1", "1x33", "33x1", "31x32", "64x64", "65x63", "127x129", "5x700", "700x5", "100x36"]
SIDE = "2048"  # of the profile


def verify(program, element):
    """What is wrong with the kernels of a step; nothing if nothing is."""
    done = run(ROOT / program, "--device", "sim", "--all", "--type", element, "--size", ",".join(SHAPES), "--reps", 1)
    not_for = [k["kernel"] for k in kernels("lesson", "variant") if k["program"] == program and not is_for(k, element)]
    said = [
        line for line in done.stderr.splitlines()
        if not any(line.startswith(f"{program}: {name}: not for elements") for name in not_for)]
    return said or ([f"{program} --type {element}: exit status {done.returncode}"] if done.returncode else [])


def compare(program, profile):
    """(lessons compared, what differs)."""
    lessons = [kernel for kernel, of in LESSONS.items() if of == program and kernel in profile]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "counts.csv"
        done = run(ROOT / program, "--device", "sim", "--kernel", ",".join(lessons), "--size", SIDE, "--csv", path)
        if done.returncode:
            return lessons, done.stderr.splitlines()
        with path.open(encoding="utf-8") as file:
            counted = {row["kernel"]: row for row in csv.DictReader(file)}
    return lessons, [f"{program}: {kernel}: {ours} is {counted[kernel][ours]}, and {profile[kernel][theirs]} in the "
                     "profile of the H200"
                     for kernel in lessons for ours, theirs in COUNTERS.items()
                     if counted[kernel][ours] != profile[kernel][theirs]]


def main():
    parser = command_line.parser(__doc__)
    parser.add_argument("steps", nargs="*", metavar="stepNN", help="default: all")
    programs = parser.parse_args().steps or STEPS
    unknown = [program for program in programs if program not in STEPS]
    if unknown:
        print(f"check.py: {unknown[0]}: expected one of {', '.join(STEPS)}", file=sys.stderr)
        return 2
    with (ROOT / "tests/data/h200_profile.csv").open(encoding="utf-8") as file:
        profile = {row["kernel"]: row for row in csv.DictReader(file)
                   if (row["type"], row["width"], row["height"]) == ("float", SIDE, SIDE)}
    wrong = 0
    for program in programs:
        said = [line for element in TYPES for line in verify(program, element)]
        lessons, differ = compare(program, profile)
        wrong += bool(said or differ)
        for line in dict.fromkeys(said + differ):
            print(line, file=sys.stderr)
        print(
            f"{program}: {'every kernel is' if not said else 'NOT every kernel is'} right, in {len(SHAPES)} "
            f"shapes and {len(TYPES)} types; "
            f"{', '.join(lessons)}: {'the requests' if not differ else 'NOT the requests'} that an H200 makes",
            flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
