#!/usr/bin/env python3
"""Random kernels (random_kernels.py): what Nsight Compute counts on a card against what the simulator counts.

usage: python3 tools/random_counts.py [--seed 31] [--count 480] write --out DIR
       python3 tools/random_counts.py [--seed 31] [--count 480] profile --out DIR
       python3 tools/random_counts.py instructions [--sass FILE.xz]
       python3 tools/random_counts.py compare [--counts CSV]

  write         the programs                                         -> DIR/random_SEED_N.cu
  profile       on a machine with a GPU, the CUDA Toolkit and Nsight Compute: compiles the programs, counts each
                kernel, and keeps its machine code; the checksums that the kernels print must be the same with and
                without the profiler                       -> DIR/random_counts.csv, DIR/random_sass.txt.xz
  instructions  the memory instructions in the machine code (of nvcc -cubin, or of a file of `profile`) against those
                that the text asks for; loops that nvcc may unroll are left out; needs cuobjdump
  compare       runs the programs on the simulator (`make try`); prints for each class how many kernels have equal
                counts, and each kernel that has not

Exits 1 if a run fails, or a checksum differs.
"""

import collections
import csv
import hashlib
import io
import json
import lzma
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import random_kernels
from gpu import at_once, expect, failures, machine, write
from gpu_plain import COLUMNS, EVERY_KIND, KINDS, metrics
from lessons import ROOT, run
import command_line

COUNTS = ROOT / "tests/data/h100_random_counts.csv"
COUNTED = metrics(
    *(f"global_{kind}_{what}" for what in ("requests", "sectors") for kind in EVERY_KIND),
    *(f"shared_{kind}_{what}" for what in ("wavefronts", "instructions") for kind in (*KINDS, "atomic")),
    *(f"local_{kind}_requests" for kind in KINDS))
INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(LDG|STG|LDS|STS|REDG?|ATOM[GS]?)\b", re.M)


def written(seed, count, folder):
    """Writes the programs; gives [(path, kernels)]."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name, text, kernels in random_kernels.programs(seed, count):
        path = folder / f"{name}.cu"
        path.write_text(text)
        found.append((path, kernels))
    return found


def digest(kernel):
    """Says whether a row of counts is of this text."""
    return hashlib.sha256((kernel.text + kernel.launch).encode()).hexdigest()[:12]


def checksums(output):
    return dict(re.findall(r"^(k\d+),([0-9a-f]{8})$", output, re.M))


# On a card


def counted(program, log):
    """{kernel: {metric: value}} by Nsight Compute, and what the program printed."""
    done = run("ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units", "base",
               "--log-file", log, "--metrics", ",".join(COUNTED.values()), program, timeout=300)
    text = log.read_text() if log.exists() else ""
    found = collections.defaultdict(dict)
    for row in csv.DictReader(io.StringIO(text[text.find('"ID"'):])):
        if row.get("Metric Name"):
            found[row["Kernel Name"].split("(")[0]][row["Metric Name"]] = row["Metric Value"].replace(",", "")
    expect(done.returncode == 0 and found,
           f"ncu on {program}: exit {done.returncode}: {text[-500:]} {done.stderr[-300:]}")
    return found, done.stdout


def sass(program):
    """The machine code, without the encodings."""
    if not shutil.which("cuobjdump"):
        sys.exit("no cuobjdump; install the CUDA Toolkit or the Python package nvidia-cuda-cuobjdump")
    text = run("cuobjdump", "-sass", program, timeout=300).stdout
    lines = [re.sub(r"\s*/\* 0x[0-9a-f]+ \*/\s*$", "", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.strip()) + "\n"


def toolkit():
    return re.search(r"V([\d.]+)", run("nvcc", "--version").stdout)[1]


def profile(options):
    out, start = options.out, time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        parts = written(options.seed, options.count, folder)

        def compiled(path, _):
            return run("nvcc", "-O3", "-std=c++17", "-arch=native", "-lineinfo", "-o", path.with_suffix(""), path,
                       timeout=300)

        for (path, _), done in zip(parts, at_once(parts, compiled, os.cpu_count())):
            expect(done.returncode == 0, f"nvcc on {path.name}: {done.stdout[-500:]} {done.stderr[-500:]}")
        if failures:
            return
        print(f"compiled {len(parts)} programs: {time.monotonic() - start:.0f} s", flush=True)
        if shutil.which("cuobjdump"):
            with lzma.open(out / "random_sass.txt.xz", "wt") as file:
                file.writelines(at_once(parts, lambda path, _: sass(path.with_suffix("")), os.cpu_count()))
            print(f"machine code: {time.monotonic() - start:.0f} s", flush=True)
        else:
            print("no cuobjdump, so no machine code is kept", flush=True)
        about, rows = {**machine(), "cuda": toolkit()}, []
        for path, kernels in parts:
            program = path.with_suffix("")
            alone = run(program, timeout=60)
            expect(alone.returncode == 0, f"{program.name}: exit {alone.returncode}: {alone.stderr[-300:]}")
            found, output = counted(program, path.with_suffix(".csv"))
            expect(checksums(output) == checksums(alone.stdout), f"{program.name}: other checksums with the profiler")
            for kernel in kernels:
                values = found.get(kernel.name, {})
                missing = [metric for metric in COUNTED.values() if metric not in values]
                expect(not missing, f"{program.name}: {kernel.name} has no {missing}")
                rows.append({**about, "seed": options.seed, "kernel": kernel.name, "class": kernel.kind,
                             "text": digest(kernel), "checksum": checksums(alone.stdout).get(kernel.name, ""),
                             **{ours: values.get(theirs, "") for ours, theirs in COUNTED.items()}})
            write(out / "random_counts.csv", rows)  # after each program, in case the time runs out
            print(f"{program.name}: {time.monotonic() - start:.0f} s", flush=True)


# Without one


def instructions(options):
    with tempfile.TemporaryDirectory() as folder:
        parts = written(options.seed, options.count, pathlib.Path(folder))

        def code(path, _):
            cubin = path.with_suffix(".cubin")
            done = run("nvcc", "-cubin", "-O3", "-std=c++17", "-arch=sm_90", "-o", cubin, path, timeout=300)
            if done.returncode:
                sys.exit(f"nvcc on {path.name}: {done.stderr[-500:]}")
            return sass(cubin)

        text = lzma.open(options.sass, "rt").read() if options.sass else "".join(at_once(parts, code, os.cpu_count()))
    found = {}
    for function in re.split(r"^\s*Function : ", text, flags=re.M)[1:]:
        name = re.match(r"_Z\d+(k\d+)P", function)[1]
        found[name] = collections.Counter({"REDG": "RED"}.get(base, base) for base in INSTRUCTION.findall(function))
    kernels = [kernel for _, part in parts for kernel in part]
    for kind in random_kernels.CLASSES:
        chosen = [kernel for kernel in kernels if kernel.kind == kind and kernel.unroll == "1"]
        different = [kernel for kernel in chosen if found[kernel.name] != kernel.expected]
        print(f"{kind}: {len(chosen) - len(different)} of {len(chosen)} kernels have the instructions of their text")
        for kernel in different:
            names = sorted(set(found[kernel.name]) | set(kernel.expected))
            off = [f"{name} {found[kernel.name][name]} for {kernel.expected[name]}" for name in names
                   if found[kernel.name][name] != kernel.expected[name]]
            print(f"  {kernel.name}: {', '.join(off)}")


def simulated(path):
    """{kernel: counts} by the simulator, and the checksums."""
    log = path.with_suffix(".counts.json")
    log.unlink(missing_ok=True)
    done = run("make", "-s", "-C", ROOT, "NVCC=", "try", f"FILE={path}", f"SIM=--quiet --json {log}", timeout=600)
    report = json.loads(log.read_text()) if log.exists() else {"kernels": [], "findings": []}
    found = [finding["text"] for finding in report["findings"]]
    expect(done.returncode == 0,
           f"{path.name} on the simulator: exit {done.returncode}: {found[:5]} {done.stderr[-300:]}")
    counts = collections.defaultdict(collections.Counter)
    for kernel in report["kernels"]:
        for place in kernel["places"]:
            what = f"{place['memory']}_{place['access']}"
            counts[kernel["kernel"]][what + "_requests"] += place["requests"]
            counts[kernel["kernel"]][what + "_units"] += place["units"]
    return counts, checksums(done.stdout)


def compared(counts, row):
    """{what: (simulator's, card's)} of what differs between a kernel's counts and its row."""
    pairs = {what: (counts[what], sum(int(row[column]) for column in columns)) for what, columns in COLUMNS.items()}
    return {what: pair for what, pair in pairs.items() if pair[0] != pair[1]}


def differences(options):
    """[(kernel, {what: (simulator's, card's)})] of all kernels; the second is empty where the counts are equal."""
    measured = {row["kernel"]: row for row in csv.DictReader(options.counts.open()) if int(row["seed"]) == options.seed}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for path, kernels in written(options.seed, options.count, pathlib.Path(folder)):
            counts, sums = simulated(path)
            for kernel in kernels:
                row = measured[kernel.name]
                expect(row["text"] == digest(kernel), f"{kernel.name}: the counts are of another text")
                expect(row["checksum"] == sums.get(kernel.name),
                       f"{kernel.name}: checksum {sums.get(kernel.name)}, on the card {row['checksum']}")
                found.append((kernel, compared(counts[kernel.name], row)))
    return found


def compare(options):
    found = differences(options)
    for kind in random_kernels.CLASSES:
        for unroll in ("1", ""):
            chosen = [off for kernel, off in found if kernel.kind == kind and kernel.unroll == unroll]
            if chosen:
                natural = "" if unroll else ", nvcc may unroll"
                print(f"{kind}{natural}: {sum(not off for off in chosen)} of {len(chosen)} kernels have equal counts")
    for kernel, off in found:
        if off:
            print(f"{kernel.name} ({kernel.kind}{'' if kernel.unroll else ', nvcc may unroll'}): " +
                  ", ".join(f"{what} {ours}, card {theirs}" for what, (ours, theirs) in off.items()))


def main():
    modes = {"write": lambda options: written(options.seed, options.count, options.out), "profile": profile,
             "instructions": instructions, "compare": compare}
    parser = command_line.parser(__doc__)
    parser.add_argument("mode", choices=modes)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--count", type=int, default=480)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--sass", type=pathlib.Path)
    parser.add_argument("--counts", type=pathlib.Path, default=COUNTS)
    options = parser.parse_args()
    if options.mode in ("write", "profile") and not options.out:
        parser.error(f"{options.mode}: needs --out DIR")
    modes[options.mode](options)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
