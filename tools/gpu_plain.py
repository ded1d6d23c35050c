#!/usr/bin/env python3
"""What Nsight Compute counts for plain CUDA programs: divergent kernels, and accesses of all kinds.

usage: python3 tools/gpu_plain.py --out DIR [--dry-run] [PART ...]                                (default: all)

  build       compiles tests/sim/divergence.cu and tests/sim/atomics_async.cu, and runs them: every result is checked
  divergence  the counts for every launch of the first        -> DIR/h200_divergence.csv
  kinds       the counts for every launch of the second       -> DIR/h200_kinds.csv
  sanitize    memcheck and racecheck on both                  -> DIR/h200_plain_sanitizer.csv
  races       racecheck on programs whose threads store to one place of shared memory, or load what others store
                                                              -> DIR/h200_races.csv
              and on random kernels, of tools/random_races.py -> DIR/h200_random_races.csv
  local       local memory of tests/sim/memories.cu          -> DIR/h200_memories.csv
  seen        compute-sanitizer on right kernels of tests/sim/seen, and racecheck on those that race
                                                              -> DIR/h200_seen.csv
  memory      memcheck and initcheck on random kernels, of tools/random_memory.py
                                                              -> DIR/h200_random_memory.csv

Runs on a machine with a GPU, the CUDA Toolkit and Nsight Compute; takes a few minutes. A row of counts is a launch; a
column that the machine has no metric for is left out. DIR/h200_metrics.csv says which metric a column is, and which are
missing. --dry-run prints the commands and runs nothing. Exits 1 if anything is not as it should be, and says what.
"""

import collections
import csv
import io
import os
import pathlib
import re
import shlex
import sys
import tempfile
import time

import gpu
import random_memory
import random_races
from gpu import at_once, expect, failures, machine, write
from lessons import METRICS, ROOT, run
import command_line

PROGRAMS = {"divergence": "divergence", "kinds": "atomics_async"}  # of tests
PROFILED = {**PROGRAMS, "local": "memories"}
TOOLS = ["memcheck", "racecheck"]
RACES = [f"programs/{name}" for name in ("different_ways", "other_value", "race_of_threads", "same_value")]
RIGHT = ["seen/legal", "seen/ordered", "memories"]
SEEN = [*((tool, name) for name in RIGHT for tool in (*TOOLS, "initcheck", "synccheck")), ("racecheck", "seen/races")]
EVERY_HAZARD = ["--racecheck-report", "hazard"]
EVERY_ACCESS = ["--report-api-errors", "no", "--print-limit", "100000"]


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
KINDS = ("load", "store")
EVERY_KIND = (*KINDS, "atomic", "reduction")
ASYNC = ("async", "async_cached", "async_bypassing")


def metrics(*columns):
    """{column of tests/data: metric}"""
    return {column: METRICS[column] for column in columns}


SHARED = metrics(
    *(f"global_{kind}_{what}" for what in ("requests", "sectors", "instructions") for kind in KINDS),
    *(f"shared_{kind}_{what}" for what in ("instructions", "wavefronts") for kind in KINDS))
MORE = metrics(
    *(f"global_{kind}_{what}" for what in ("requests", "sectors") for kind in ("atomic", "reduction", *ASYNC)),
    "global_atomic_instructions", "global_reduction_instructions", *(f"{kind}_instructions" for kind in ASYNC),
    *(f"shared_{kind}_instructions" for kind in ("atomic", "atomic_alu", "atomic_cas")),
    *(f"shared_{kind}_wavefronts" for kind in ("atomic", *ASYNC)), "shared_wavefronts",
    *(f"shared_{kind}_wavefronts_l1tex" for kind in EVERY_KIND), "shared_wavefronts_l1tex",
    *(f"shared_{kind}_conflicts_l1tex" for kind in (*EVERY_KIND, "async")),
    *(f"local_{kind}_{what}" for what in ("requests", "sectors") for kind in KINDS), "constant_requests")
WANTED = {"divergence": SHARED, "kinds": {**SHARED, **MORE},
          "local": metrics("local_load_sectors", "local_store_sectors")}


def build_folder():
    return ROOT / "build/tests/plain"


def program(name):
    return build_folder() / pathlib.Path(name).name


STRICT = ("-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings")


def compiling(name, *warnings):
    """The command for tests/sim/NAME.cu."""
    return ["nvcc", "-O3", "-lineinfo", "-std=c++17", "-arch=sm_90", *(warnings or STRICT), "-o", program(name),
            ROOT / f"tests/sim/{name}.cu"]


def compiling_random(seed):
    """Without optimization, or nvcc leaves out stores that nobody loads."""
    return ["nvcc", "-std=c++17", "-arch=sm_90", "-G", "-w", "-o", program(f"random_{seed}"),
            build_folder() / f"random_{seed}.cu"]


def profiling(part, metrics, log):
    return ["ncu", "--clock-control", "none", "--csv", "--print-units", "base", "--log-file", log,
            "--metrics", ",".join(metrics.values()), program(PROFILED[part])]


def sanitizing(tool, name, *options):
    return ["compute-sanitizer", "--tool", tool, *options, "--error-exitcode", "99", program(name)]


def launches(output):
    """What a program says of its launches: [{kernel, type, result}]."""
    return [{"kernel": k, "type": t, "result": r}
            for k, t, r in re.findall(r"^(\w+),([\w ]+),(right|wrong)\b", output, re.M)]


def compile_all(names, *warnings):
    build_folder().mkdir(parents=True, exist_ok=True)
    for done in at_once([(name,) for name in names], lambda name: run(*compiling(name, *warnings), timeout=300), 2):
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


def compile_random(programs):
    """Compiles those of a module of random kernels; gives (seed, number) of each kernel."""
    build_folder().mkdir(parents=True, exist_ok=True)
    for seed in programs.SEEDS:
        (build_folder() / f"random_{seed}.cu").write_text(programs.program(seed))
    for done in at_once([(seed,) for seed in programs.SEEDS], lambda seed: run(*compiling_random(seed), timeout=300),
                        len(programs.SEEDS)):
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    return [(seed, n) for seed in programs.SEEDS for n in range(programs.KERNELS)]


def build(out):
    compile_all(PROGRAMS.values())
    for name in PROGRAMS.values():
        done = run(program(name))
        found = launches(done.stdout)
        expect(done.returncode == 0 and found and all(x["result"] == "right" for x in found),
               f"{name}: exit {done.returncode}: {[x for x in found if x['result'] != 'right']} {done.stderr}")
        print(f"{name}: {len(found)} launches, {sum(x['result'] == 'right' for x in found)} right", flush=True)


offered_metrics = set()


def offered(metrics):
    """Those metrics that the machine has, and those of gpu.py. ncu lists them without their suffix (.sum)."""
    if not offered_metrics:
        done = run("ncu", "--query-metrics", timeout=120)
        offered_metrics.update(re.findall(r"^(\w+__\w+)", done.stdout, re.M))
        print(f"ncu offers {len(offered_metrics)} metrics", flush=True)
    found = {ours: theirs for ours, theirs in metrics.items()
             if theirs.split(".")[0] in offered_metrics or theirs in gpu.MEASURED.values()}
    if offered_metrics:
        return found
    print(f"no list of metrics, so all of them are asked for: {done.stdout[-300:]} {done.stderr[-300:]}")
    return metrics


def counts_of_launches(text):
    """{launch: {name, grid, block, metric: value}} of the CSV file that ncu writes."""
    counted = {}
    for row in csv.DictReader(io.StringIO(text[text.find('"ID"'):])):
        if row.get("Metric Name"):
            launch = counted.setdefault(
                int(row["ID"]), {"name": row["Kernel Name"], "grid": row["Grid Size"], "block": row["Block Size"]})
            launch[row["Metric Name"]] = row["Metric Value"].replace(",", "")
    return counted


def profile(part, out):
    wanted = WANTED[part]
    metrics = offered(wanted)
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "ncu.csv"
        done = run(*profiling(part, metrics, log), timeout=500)
        text = log.read_text() if log.exists() else ""
        # A name that is listed and cannot be collected spoils the whole run: without those that are named.
        said = text + done.stdout + done.stderr
        bad = {
            ours for ours, theirs in metrics.items()
            if re.search(rf"(?i)(fail|invalid|unknown|not found|unable).*\b{re.escape(theirs.split('.')[0])}\b", said)}
        if bad:
            print(f"cannot be collected: {sorted(metrics[name] for name in bad)}", flush=True)
            metrics = {ours: theirs for ours, theirs in metrics.items() if ours not in bad}
            done = run(*profiling(part, metrics, log), timeout=500)
            text = log.read_text()
    said, counted = launches(done.stdout), counts_of_launches(text)
    expect(len(said) == len(counted) > 0,
           f"{part}: {len(said)} launches and {len(counted)} counts: {text[-500:]} {done.stdout[-300:]} "
           f"{done.stderr[-300:]}")
    expect(all(x["result"] == "right" for x in said), f"{part}: wrong results under ncu: {done.stdout[-500:]}")
    about, rows = machine(), []
    for (id_, values), launch in zip(sorted(counted.items()), said):
        name = re.match(r"(?:void )?(\w+)", values["name"]).group(1)
        expect(re.fullmatch(rf"{name}\d*", launch["kernel"]), f"{part}: launch {id_} is {name}, not {launch['kernel']}")
        rows.append({**about, "program": PROGRAMS[part], "kernel": launch["kernel"], "type": launch["type"],
                     "grid": values["grid"].strip("() ").replace(", ", "x"),
                     "block": values["block"].strip("() ").replace(", ", "x"),
                     **{ours: values.get(theirs, "") for ours, theirs in metrics.items()}})
    expect(all(r[ours] not in ("", "n/a") for r in rows for ours in metrics if ours in SHARED),
           f"{part}: counts are missing")
    if rows:
        write(out / f"h200_{part}.csv", rows)
    # Which metric a column is: of all parts, since the last part has the most.
    write(out / "h200_metrics.csv",
          [{**about, "column": ours, "metric": theirs, "available": "yes" if ours in metrics else "no"}
           for ours, theirs in wanted.items()])
    print(f"{part}: {len(rows)} launches, {len(metrics)} of {len(wanted)} metrics; "
          f"not available: {[theirs for ours, theirs in wanted.items() if ours not in metrics]}")


def divergence(out):
    profile("divergence", out)


def kinds(out):
    profile("kinds", out)


def local(out):
    compile_all(["memories"])
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "ncu.csv"
        done = run(*profiling("local", WANTED["local"], log), timeout=500)
        counted = counts_of_launches(log.read_text())
    expect(done.returncode == 0 and counted, f"local: exit {done.returncode}: {done.stdout[-300:]}")
    about = machine()
    write(out / "h200_memories.csv",
          [{**about, "kernel": re.match(r"(?:void )?(\w+)", values["name"])[1],
            **{ours: values[theirs] for ours, theirs in WANTED["local"].items()}} for values in counted.values()])


def sanitize(out):
    jobs = [(tool, name) for tool in TOOLS for name in PROGRAMS.values()]
    rows = []
    for (tool, name), done in zip(jobs, at_once(jobs, lambda tool, name: run(*sanitizing(tool, name), timeout=400), 4)):
        summary = "; ".join(re.findall(r"^=+ (.*SUMMARY.*)$", done.stdout, re.M))
        if done.returncode or not re.search(r"SUMMARY: 0 (errors|hazards)", summary):
            expect(False, f"{tool} on {name}: exit {done.returncode}: {summary}")
            print("\n".join(re.findall(r"^=+ .*$", done.stdout, re.M)[:40]))
        rows.append({**machine(), "tool": tool, "program": name, "exit_status": done.returncode, "summary": summary})
    write(out / "h200_plain_sanitizer.csv", rows)


def hazards(name, *arguments):
    """What racecheck says of a program: its summary, errors and warnings."""
    done = run(*sanitizing("racecheck", name, *EVERY_HAZARD), *arguments, timeout=400)
    summary = re.findall(r"^=+ (RACECHECK SUMMARY: .*\((\d+) errors?, (\d+) warnings?\))$", done.stdout, re.M)
    expect(len(summary) == 1, f"racecheck on {name} {' '.join(arguments)}: {done.stdout[-300:]}")
    return summary[0] if summary else ("", "", "")


def races(out):
    compile_all(RACES)
    rows = []
    for name in RACES:
        summary, errors, _ = hazards(name)
        rows.append(
            {**machine(), "tool": "racecheck", "program": program(name).name, "hazards": errors, "summary": summary})
    write(out / "h200_races.csv", rows)

    jobs = compile_random(random_races)
    found = at_once(jobs, lambda seed, n: hazards(f"random_{seed}", str(n)), 12)
    write(out / "h200_random_races.csv",
          [{**machine(), "tool": "racecheck", "seed": seed, "kernel": f"k{n}", "errors": errors, "warnings": warnings}
           for (seed, n), (_, errors, warnings) in zip(jobs, found)])


def seen(out):
    """The kernels that a report names are those of a launch, on the host's side."""
    compile_all({name for _, name in SEEN}, "-w")
    rows = []
    for tool, name in SEEN:
        done = run(*sanitizing(tool, name, "--print-limit", "100000", *EVERY_HAZARD[:2 * (tool == "racecheck")]),
                   timeout=400)
        summary = "; ".join(re.findall(r"^=+ (.*SUMMARY.*)$", done.stdout, re.M))
        expect(summary and (name not in RIGHT or "SUMMARY: 0 " in summary), f"{tool} on {name}: {done.stdout[-300:]}")
        kernels = {kernel for kernel in re.findall(r"Host Frame: (?:void )?(\w+)(?:<.*>)?\(", done.stdout)
                   if kernel not in ("main", "cudaLaunchKernel")}
        rows.append({**machine(), "tool": tool, "program": program(name).name, "summary": summary,
                     "kernels": " ".join(sorted(kernels))})
    write(out / "h200_seen.csv", rows)


def reports(tool, seed, *numbers):
    """What memcheck or initcheck reports of random kernels: {number: {fault: count}}."""
    done = run(*sanitizing(tool, f"random_{seed}", *EVERY_ACCESS), *map(str, numbers), timeout=400)
    found = {n: collections.Counter() for n in numbers}
    for report in re.split(r"^=+ *$", done.stdout, flags=re.M):
        access = re.search(r"= (Invalid|Uninitialized) __global__ ", report)
        if access:
            kernel = int(re.search(r"(?<!\w)k(\d+)\(", report)[1])
            found[kernel]["uninitialized" if access[1] == "Uninitialized" else "misaligned" if "is misaligned" in
                          report else "out_of_bounds"] += 1
    summary = re.findall(r"^=+ ERROR SUMMARY: (\d+) errors?", done.stdout, re.M)
    # initcheck looks at copies between arrays, too
    of_host = len(re.findall("^=+ Host API memory access error", done.stdout, re.M))
    expect(summary == [str(of_host + sum(counts.total() for counts in found.values()))],
           f"{tool} on random_{seed} {numbers}: {done.stdout[-300:]}")
    return found


def memory(out):
    """initcheck goes on after a report, so it sees all kernels of a program at once. memcheck ends with the first, so
    each kernel is a run of its own."""
    jobs = compile_random(random_memory)
    found = {(seed, n): reported[n]
             for (seed, n), reported in zip(jobs, at_once(jobs, lambda seed, n: reports("memcheck", seed, n), 12))}
    valid = [(seed, *[n for of, n in jobs if of == seed and not found[seed, n]]) for seed in random_memory.SEEDS]
    rows = []
    for (seed, *_), reported in zip(
        valid, at_once(valid, lambda seed, *numbers: reports("initcheck", seed, *numbers), len(valid))):
        for n in range(random_memory.KERNELS):
            counts = found[seed, n] or reported[n]
            rows.append({
                **machine(), "seed": seed, "kernel": f"k{n}",
                **{fault: counts[fault] for fault in ("out_of_bounds", "misaligned", "uninitialized")}})
    write(out / "h200_random_memory.csv", rows)


def main():
    parts = {
        "build": build, "divergence": divergence, "sanitize": sanitize, "races": races, "memory": memory,
        "local": local, "seen": seen, "kinds": kinds}
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--dry-run", action="store_true", help="print the commands, run nothing")
    parser.add_argument("parts", nargs="*", metavar="|".join(parts), help="what to run; default: all")
    options = parser.parse_args()
    for part in options.parts:
        if part not in parts:
            parser.error(f"{part}: expected one of {', '.join(parts)}")
    names = options.parts or list(parts)
    if options.dry_run:
        commands = []
        for part in names:
            if part == "build":
                commands += ([compiling(name) for name in PROGRAMS.values()]
                             + [[program(name)] for name in PROGRAMS.values()])
            elif part == "sanitize":
                commands += [sanitizing(tool, name) for tool in TOOLS for name in PROGRAMS.values()]
            elif part == "races":
                commands += [
                    command for name in RACES
                    for command in (compiling(name), sanitizing("racecheck", name, *EVERY_HAZARD))]
                commands += [command for seed in random_races.SEEDS for command in (
                    compiling_random(seed), [*sanitizing("racecheck", f"random_{seed}", *EVERY_HAZARD), "NUMBER"])]
            elif part == "memory":
                commands += [command for seed in random_memory.SEEDS for command in (compiling_random(seed), *(
                    [*sanitizing(tool, f"random_{seed}", *EVERY_ACCESS), "NUMBER"]
                    for tool in ("memcheck", "initcheck")))]
            elif part == "local":
                commands += [compiling(PROFILED[part]), profiling(part, WANTED[part], "LOG")]
            elif part == "seen":
                commands += [command for tool, name in SEEN
                             for command in (compiling(name, "-w"), sanitizing(tool, name))]
            else:
                commands += [["ncu", "--query-metrics"], profiling(part, WANTED[part], "LOG")]
        print("\n".join(shlex.join(os.fspath(word) for word in command) for command in commands))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    print(machine(), flush=True)
    for name in names:
        start = time.monotonic()
        parts[name](options.out)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
