#!/usr/bin/env python3
"""Plain CUDA programs of the tests on a GPU: what Nsight Compute counts and compute-sanitizer reports.

usage: python3 tools/gpu_plain.py --out DIR [PART ...]                                               (default: all)

  divergence  the counts of each launch of tests/sim/divergence.cu     -> DIR/h200_divergence.csv
  kinds       the counts of each launch of tests/sim/atomics_async.cu  -> DIR/h200_kinds.csv
  local       local memory of tests/sim/memories.cu                    -> DIR/h200_memories.csv
  counts      the counts of random kernels (tools/random_kernels.py)   -> DIR/random_counts.csv
  races       racecheck on programs whose threads store to one place of shared memory, or load what others store, and on
              random kernels                             -> DIR/h200_races.csv, DIR/h200_random_races.csv
  memory      memcheck and initcheck on random kernels   -> DIR/h200_random_memory.csv
  seen        every tool on right kernels of tests/sim/seen, and racecheck on those that race -> DIR/h200_seen.csv
  ncu         what Nsight Compute prints for ten programs, in both of its formats, which plots/ncu_join.py reads. Of the
              page raw, only the columns that are read are kept        -> DIR/ncu/*.csv
  language    each row of tests/sim/language             -> DIR/h200_language.csv

Needs a GPU, the CUDA Toolkit and Nsight Compute; takes a few minutes. A row of counts is a launch, and its columns are
those that tests read. Exits 1 if anything is not as it should be, and says what.
"""

import collections
import csv
import hashlib
import io
import pathlib
import re
import sys
import time

import random_kernels
import gpu
from gpu import TOOLS, at_once, expect, failures, machine
from lessons import METRICS, NCU, ROOT, run, write
import command_line

RACES = [f"programs/{name}" for name in ("different_ways", "other_value", "race_of_threads", "same_value")]
RIGHT = ["seen/legal", "seen/ordered", "memories"]
NCU_PROGRAMS = ["ncu", "merges", *(f"programs/{name}" for name in (
    "histogram", "matrix_mul", "reduction", "scan", "structures", "symbols", "transpose", "vector_add"))]
NCU_COUNTS = ",".join(row.metric for row in NCU if row.column and row.count and row.way == "1")
NCU_READ = {"ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "CC", *(row.metric for row in NCU)}

# The simulator's counts, and the columns of a profile that add up to each. The counts of instructions include those
# that no lane executes, so requests to shared memory are compared through their wavefronts.
COLUMNS = {
    "global_load_requests": ["global_load_requests"],
    "global_load_units": ["global_load_sectors"],
    "global_store_requests": ["global_store_requests"],
    "global_store_units": ["global_store_sectors"],
    "global_atomic_requests": ["global_atomic_requests", "global_reduction_requests"],
    "global_atomic_units": ["global_atomic_sectors", "global_reduction_sectors"],
    "shared_load_units": ["shared_load_wavefronts"],
    "shared_store_units": ["shared_store_wavefronts"],
    "shared_atomic_units": ["shared_atomic_wavefronts"],
}
DIVERGENCE = [column for columns in COLUMNS.values() for column in columns if "atomic" not in column
              and "reduction" not in column]
COUNTED = sorted({column for columns in COLUMNS.values() for column in columns})
KINDS = [*COUNTED, "shared_store_instructions", "async_instructions", "shared_async_wavefronts",
         "shared_atomic_instructions"]


def compiled(sources, *flags):
    """Compiles sources, and gives the path of each program."""
    def one(source):
        program = ROOT / "build/tests/plain" / source.stem
        program.parent.mkdir(parents=True, exist_ok=True)
        done = run("nvcc", "-lineinfo", "-std=c++17", "-arch=native", "-w", *flags, "-o", program, source, timeout=500)
        if done.returncode: sys.exit(f"nvcc on {source}: {done.stdout} {done.stderr}")
        return program
    return at_once([(source,) for source in sources], one, 8)


def of_tests(name):
    return compiled([ROOT / f"tests/sim/{name}.cu"], "-O3")[0]


def random_program(mode, seed, *flags):
    """Compiles the random kernels of a seed: (kernels, program)."""
    made = random_kernels.kernels(mode, seed)
    source = ROOT / f"build/tests/plain/{mode}_{seed}.cu"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(random_kernels.program(mode, made))
    return made, compiled([source], *flags)[0]


# Counts


def counted(program, columns):
    """([the name and the columns of each launch], what the program printed)"""
    metrics = {METRICS[column]: column for column in columns}
    rows, done = gpu.ncu(metrics, program)
    launches = collections.defaultdict(dict)
    for row in rows:
        launch = launches[int(row["ID"])]
        launch["kernel"] = re.match(r"(?:void )?(\w+)", row["Kernel Name"])[1]
        launch[metrics[row["Metric Name"]]] = row["Metric Value"]
    expect(done.returncode == 0 and launches and all(len(x) == 1 + len(columns) for x in launches.values()),
           f"ncu on {program}: exit {done.returncode}: {done.log[-500:]} {done.stderr[-300:]}")
    return [launches[n] for n in sorted(launches)], done.stdout


def profile(name, columns, out):
    """A program that prints "KERNEL,TYPE,right" for each launch."""
    launches, output = counted(of_tests(name), columns)
    said = re.findall(r"^(\w+),([\w ]+),(right|wrong)\b", output, re.M)
    expect(len(said) == len(launches) and all(
        result == "right" and re.fullmatch(rf"{launch['kernel']}\d*", kernel)
        for (kernel, _, result), launch in zip(said, launches)), f"{name}: {output[-500:]}")
    write(out, [{**machine(), **launch, "kernel": kernel, "type": type}
                for (kernel, type, _), launch in zip(said, launches)])


def divergence(out):
    profile("divergence", DIVERGENCE, out / "h200_divergence.csv")


def kinds(out):
    profile("atomics_async", KINDS, out / "h200_kinds.csv")


def local(out):
    launches, _ = counted(of_tests("memories"), ["local_load_sectors", "local_store_sectors"])
    write(out / "h200_memories.csv", [{**machine(), **launch} for launch in launches])


def digest(kernel):
    """Says whether a row of counts is of this text."""
    return hashlib.sha256((kernel.text + kernel.launch).encode()).hexdigest()[:8]


def counts(out):
    """The first row has the machine; the others ran in the same minutes."""
    rows, about = [], machine()
    for seed in random_kernels.SEEDS["counts"]:
        kernels, program = random_program("counts", seed, "-O3")
        checksums = dict(re.findall(r"^(k\d+),(\w{8})$", run(program).stdout, re.M))
        launches, output = counted(program, COUNTED)
        expect(checksums == dict(re.findall(r"^(k\d+),(\w{8})$", output, re.M)), f"{seed}: other sums under ncu")
        expect([launch["kernel"] for launch in launches] == [kernel.name for kernel in kernels], f"{seed}: kernels")
        for kernel, launch in zip(kernels, launches):
            rows.append({**dict.fromkeys(about, ""), **(about if not rows else {}), "seed": seed, **launch,
                         "text": digest(kernel), "checksum": checksums.get(kernel.name, "")})
    write(out / "random_counts.csv", rows)


# Faults


def sanitized(tool, program, *arguments, options=()):
    """(what a tool of compute-sanitizer prints, its summary)"""
    done, summary = gpu.sanitized(tool, program, *arguments, options=("--print-limit", "100000", *options))
    expect(summary, f"{tool} on {program.name} {' '.join(map(str, arguments))}: {done.stdout[-300:]}")
    return done.stdout, summary


def hazards(program, *arguments):
    """racecheck's summary, errors and warnings."""
    _, summary = sanitized("racecheck", program, *arguments, options=("--racecheck-report", "hazard"))
    return summary, *re.search(r"\((\d+) errors?, (\d+) warnings?\)", summary).groups()


def races(out):
    rows = []
    for name in RACES:
        program = of_tests(name)
        summary, errors, _ = hazards(program)
        rows.append({**machine(), "program": program.name, "hazards": errors, "summary": summary})
    write(out / "h200_races.csv", rows)
    rows = []
    for seed in random_kernels.SEEDS["races"]:
        kernels, program = random_program("races", seed, "-G")  # or nvcc leaves out stores that nobody loads
        found = at_once([(program, n) for n in range(len(kernels))], hazards, 12)
        rows += [{**machine(), "seed": seed, "kernel": kernel.name, "errors": errors, "warnings": warnings}
                 for kernel, (_, errors, warnings) in zip(kernels, found)]
    write(out / "h200_random_races.csv", rows)


def reports(tool, program, *numbers):
    """What memcheck or initcheck reports of random kernels: {number: {fault: count}}."""
    text, _ = sanitized(tool, program, *numbers, options=("--report-api-errors", "no"))
    found = {n: collections.Counter() for n in numbers}
    for report in re.split(r"^=+ *$", text, flags=re.M):
        if access := re.search(r"= (Invalid|Uninitialized) __global__ ", report):
            kernel = int(re.search(r"(?<!\w)k(\d+)\(", report)[1])
            found[kernel]["uninitialized" if access[1] == "Uninitialized" else "misaligned" if "is misaligned" in
                          report else "out_of_bounds"] += 1
    return found


def memory(out):
    """initcheck goes on after a report, so it sees all kernels of a program at once. memcheck ends with the first, so
    each kernel is a run of its own."""
    rows = []
    for seed in random_kernels.SEEDS["memory"]:
        kernels, program = random_program("memory", seed, "-G")
        found = {}
        for one in at_once([("memcheck", program, n) for n in range(len(kernels))], reports, 12): found |= one
        found |= reports("initcheck", program, *(n for n, faults in found.items() if not faults))
        rows += [{**machine(), "seed": seed, "kernel": kernel.name,
                  **{fault: found[n][fault] for fault in ("out_of_bounds", "misaligned", "uninitialized")}}
                 for n, kernel in enumerate(kernels)]
    write(out / "h200_random_memory.csv", rows)


def seen(out):
    """The kernels that a report names are those of a launch, on the host's side."""
    rows = []
    for name in [*RIGHT, "seen/races"]:
        program = of_tests(name)
        for tool in TOOLS if name in RIGHT else ["racecheck"]:
            text, summary = sanitized(tool, program, options=("--racecheck-report", "hazard") * (tool == "racecheck"))
            expect(name not in RIGHT or "SUMMARY: 0 " in summary, f"{tool} on {name}: {text[-300:]}")
            kernels = set(re.findall(r"Host Frame: (?:void )?(\w+)(?:<.*>)?\(", text)) - {"main", "cudaLaunchKernel"}
            rows.append({**machine(), "tool": tool, "program": program.name, "summary": summary,
                         "kernels": " ".join(sorted(kernels))})
    write(out / "h200_seen.csv", rows)


# Formats and the language


def with_fewer_columns(text):
    """The page raw with the columns that are read."""
    begin = text.index('"ID"')
    rows = list(csv.reader(io.StringIO(text[begin:])))
    kept = [i for i, name in enumerate(rows[0]) if name in NCU_READ]
    short = io.StringIO()
    csv.writer(short, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([row[i] for i in kept] for row in rows)
    return text[:begin] + short.getvalue()


def ncu(out):
    (out / "ncu").mkdir(exist_ok=True)
    rows, version = [], re.search(r"Version (\S+)", run("ncu", "--version").stdout)[1]
    for name in NCU_PROGRAMS:
        program = of_tests(name)
        for how, options in (("raw", ["--page", "raw", "--print-units", "base"]), ("long", [])):
            if how == "long" and program.name != "histogram": continue
            done = run("ncu", "--csv", *options, "--metrics", NCU_COUNTS, program, timeout=300)
            expect(done.returncode == 0, f"ncu on {name}: {done.stdout[-500:]} {done.stderr[-500:]}")
            text = re.sub(r"(?<=process )\d+ \(.*/", "1 (", done.stdout + done.stderr)
            file = out / f"ncu/{program.name}.{how}.csv"
            file.write_text(with_fewer_columns(text) if how == "raw" else text)
            rows.append({**machine(), "ncu": version, "file": file.name})
    write(out / "ncu/files.csv", rows)


def language(out):
    sources, rows = sorted((ROOT / "tests/sim/language").glob("*.cu")), []
    for source, program in zip(sources, compiled(sources, "--extended-lambda")):
        done = run(program)
        expect(done.returncode == 0, f"{source.stem}: exit {done.returncode}")
        rows += [{**machine(), "program": source.stem, "row": row, "result": result}
                 for row, result in re.findall(r"^ROW (.*?) +(\S+)$", done.stdout, re.M)]
    expect(all(row["result"] == "ok" for row in rows), [row for row in rows if row["result"] != "ok"])
    write(out / "h200_language.csv", rows)


def main():
    parts = {part.__name__: part for part in (divergence, kinds, local, counts, races, memory, seen, ncu, language)}
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("parts", nargs="*", metavar="|".join(parts), help="what to run; default: all")
    options = parser.parse_args()
    for part in options.parts:
        if part not in parts:
            parser.error(f"{part}: expected one of {', '.join(parts)}")
    options.out.mkdir(parents=True, exist_ok=True)
    print(machine(), flush=True)
    for name in options.parts or parts:
        start = time.monotonic()
        parts[name](options.out)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
