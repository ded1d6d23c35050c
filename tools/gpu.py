#!/usr/bin/env python3
"""What only a GPU can show: runs on any machine with one, the CUDA Toolkit, g++, make and python3.

usage: python3 tools/gpu.py --out DIR [--steps step07,...] [--types char,...] [verify] [bench] [tables] [peers]
                            [sanitize] [errata] [profile] [limits] [lab] [new]     (default: all)

  verify    every kernel, type and shape of the tests, the large and long shapes, a matrix of more than
            2^31 elements, and the planted wrong kernels
  bench     every kernel at 2048 to 32768 squared, steps 4 and 7 at odd shapes, too -> DIR/bench.csv
  tables    the sources' tables, measured again                   -> DIR/whitepaper.csv, book.csv, bandwidth.csv
  peers     the steps beside cudaMemcpy and the libraries          -> DIR/peers.csv
  sanitize  compute-sanitizer: memcheck, racecheck, initcheck, synccheck; and that racecheck can fail
                                                                  -> DIR/sanitizer.csv
  errata    the faulty kernels, and compute-sanitizer on them     -> DIR/errata.csv
  profile   Nsight Compute's counts for every kernel              -> DIR/profile.csv
  limits    what keeps the copy, step 4 and step 7 from being faster  -> DIR/limits.csv
  new   what is new: verify, bench, sanitize and profile, of the kernels that tests/data/h200_profile.csv has not
                                                                  -> DIR/new/*.csv;
            and the programs of bench/: microbench, timing, readonly
                                                                  -> DIR/micro.csv, timing.csv, readonly.csv
  lab       hand-outs and solutions of the exercises: points, and the bandwidth reached  -> DIR/lab.csv

Every CSV names machine, driver and date (UTC). Exits 1 if anything is not as it should be, and says what.
"""

import concurrent.futures
import csv
import datetime
import io
import itertools
import json
import pathlib
import re
import sys
import tempfile
import time

from lessons import (COUNTERS, FAULTS, KINDS, METRICS, ROOT, SHAPES, STEPS, TWINS, TYPES, UNMEASURED, is_for, kernels,
                     run, write)
import command_line

sys.path.insert(0, str(ROOT / "plots"))
from gallery import gallery

LARGE = [(2048, 2048), (16384, 16384), (10007, 6007), (1, 1000003), (1000003, 1)]
PAST_INT = (49152, 45056)  # 2.2 * 10^9 elements
BENCH = [(n, n) for n in (2048, 4096, 8192, 16384, 32768)]
ODD = [(16383, 16381), (10007, 6007)]
SANITIZED = [(333, 555, "float"), (1024, 96, "double"), (257, 127, "char"), (129, 63, "double2")]
PROFILED = ([(shape, element)
             for shape in [(2048, 2048), (1024, 1024), (2048, 1024), (1000, 777), (333, 555), (33, 65)]
             for element in ("float", "double")]
            + [(shape, element) for shape in [(1024, 1024), (333, 555)] for element in ("char", "half", "double2")])
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
MEASURED = {name: METRICS[name] for name in (
    "global_load_requests", "global_store_requests", "global_load_sectors", "global_store_sectors",
    "shared_load_instructions", "shared_store_instructions", "shared_load_wavefronts", "shared_store_wavefronts",
    "dram_read_bytes", "dram_write_bytes", "duration_ns")}
LIMITED = [(16384, 16384, "float"), (16384, 16384, "double"), (16383, 16381, "float")]
LIMITS = {name: METRICS[name] for name in (
    "dram_busy_percent", "l2_fabric_busy_percent", "l2_requests", "dram_read_bytes", "dram_write_bytes",
    "warps_active_percent", "duration_ns")}

failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("NOT AS IT SHOULD BE:", message, flush=True)


def machine():
    name, driver = run("nvidia-smi", "--query-gpu=name,driver_version",
                       "--format=csv,noheader").stdout.split("\n")[0].split(", ")
    return {"date_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "machine": name, "driver": driver}


def at_once(jobs, work, workers):
    """work(*job) for every job, a few at a time; the results in the order of the jobs."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: work(*job), jobs))


def results(program, sizes, element, *arguments, timeout=400):
    """Runs ./program on the GPU; returns the rows of its CSV, and the refusals: [(kernel, size, message)]."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.csv"
        done = run(ROOT / program, "--device", "cuda", "--size", ",".join(f"{w}x{h}" for w, h in sizes), "--type",
                   element, "--csv", path, *arguments, timeout=timeout)
        refused = re.findall(r"^\w+: (\w+): (the kernel asks for .*)$", done.stderr, re.MULTILINE)
        expect(done.returncode == 0 and len(refused) == len(done.stderr.splitlines()),
               f"{program} {sizes} {element}: exit {done.returncode}: {done.stderr.strip()}")
        rows = list(csv.DictReader(path.open())) if path.exists() else []
        for row in rows:
            expect(row["verified"] == "yes", f"{program} {row}")
        return rows, refused


CHOSEN = []  # names of kernels; none: all


def on_the_gpu(program, element, *places):
    """The names of a program's lesson and variants on the GPU, and at the other places named, that are for such
    elements."""
    return ",".join(k["kernel"]
                    for k in kernels("lesson", "variant")
                    if k["program"] == program and k["on"] in ("GPU", *places) and is_for(k, element) and
                    (not CHOSEN or k["kernel"] in CHOSEN))


def verify(out):
    """Every kernel, type and shape is right, or is refused for the number of its blocks; planted faults are named."""
    def one(program, sizes, element, *arguments):
        found, refused = results(program, sizes, element, *arguments)
        names = set(arguments[1].split(","))
        for kernel, message in refused: expect("blocks in y" in message, f"{kernel} refused {sizes}: {message}")
        done = {(r["kernel"], r["width"], r["height"]) for r in found if r["kernel"] in names}
        expect(len(done) + len(refused) == len(names) * len(sizes), f"{program} {sizes} {element}: {len(done)} results")

    for program, element in itertools.product(STEPS, TYPES):
        if names := on_the_gpu(program, element, "bus"):
            one(program, SHAPES, element, "--kernel", names, "--once")
            for size in LARGE: one(program, [size], element, "--kernel", names, "--reps", 2)
        if element == "float" and (names := on_the_gpu(program, element)):
            one(program, [PAST_INT], element, "--kernel", names, "--reps", 2)
    done = run(ROOT / "step04", "--device", "cuda", "--width", 1, "--height", 65535 * 32 + 1)
    expect(done.returncode == 2 and "65536 blocks in y" in done.stderr, "a grid of 65536 blocks in y: " + done.stderr)
    done = run(ROOT / "step04", "--device", "cuda", "--size", 1000000)
    expect(done.returncode == 2 and len(done.stderr.splitlines()) == 1,
           "a matrix too large for the card: " + done.stderr)

    def plant(kind, fault):
        done = run(ROOT / "build/tests/steps/planted", "--device", "cuda", "--kernel", f"{kind}_{fault}",
                   "--width", 67, "--height", 100, "--reps", 2)
        # Nothing is known of the result of a race. It is racecheck's business.
        right = (done.returncode == 0 if fault in TWINS else
                 fault == "forgetBarrier" or done.returncode == 1 and re.search(FAULTS[fault][0], done.stderr))
        expect(right, f"planted {kind}_{fault}: exit {done.returncode}: {done.stderr}")

    at_once([(kind, fault) for kind in KINDS for fault in [*TWINS, *FAULTS]], plant, 8)


def bench(out):
    rows = []
    for program in STEPS:
        odd = ODD if program in ("step04", "step07") else []
        for element in TYPES:
            sizes = (BENCH if element == "float" else [(16384, 16384)]) + odd
            if names := on_the_gpu(program, element):
                rows += results(program, sizes, element, "--kernel", names)[0]
    write(out / "bench.csv", rows)
    for row in rows:
        if row["width"] == "16384":
            print(f"{row['kernel']:26} {row['type']:7} {row['bandwidth_gbs']:>8} GB/s  "
                  f"{row['bandwidth_percent_of_memcpy']:>6} % of memcpy"
                  f"  spread {row['time_spread_percent']} %")


def tables(out, names=("table-whitepaper", "table-book", "table-bandwidth")):
    for target in names:
        name = target.split("-")[-1]
        with tempfile.TemporaryDirectory() as folder:
            done = run("make", target, f"RESULTS={folder}", timeout=570)
            expect(done.returncode == 0, f"make {target}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
            files = sorted(pathlib.Path(folder).glob(f"{name}-*/*.csv"))
            done = run(sys.executable, ROOT / "plots/tables.py", name, *files, "--csv", out / f"{name}.csv")
        expect(done.returncode == 0, f"tables.py {name}: {done.stderr}")
        print(done.stdout, flush=True)


def peers(out):
    tables(out, ["peers"])


def sanitized(tool, *command, options=()):
    """(the run of a command under a tool of compute-sanitizer, its summary)"""
    done = run("compute-sanitizer", "--tool", tool, *options, "--error-exitcode", 99, *command, timeout=400)
    return done, "; ".join(re.findall(r"^=+ (.*SUMMARY.*)$", done.stdout, re.MULTILINE))


def sanitizer(tool, program, width, height, element, *arguments):
    """(what compute-sanitizer did, a row about it)"""
    done, summary = sanitized(tool, ROOT / program, "--device", "cuda", "--width", width, "--height", height, "--type",
                              element, "--once", *arguments)
    return done, {
        **machine(), "tool": tool, "program": " ".join([program, *arguments]), "type": element, "width": width,
        "height": height, "exit_status": done.returncode, "summary": summary}


def sanitize(out):
    jobs = [(tool, program, *shape, "--all") for tool in TOOLS for program in STEPS for shape in SANITIZED
            if shape[2] in TYPES]
    rows = []
    for job, (done, row) in zip(jobs, at_once(jobs, sanitizer, 4)):
        expect(done.returncode == 0 and re.search(r"SUMMARY: 0 (errors|hazards)", row["summary"]),
               f"{job}: exit {done.returncode}: {done.stdout[-500:]} {done.stderr[-200:]}")
        rows.append(row)
    # And a kernel that forgets its barrier is reported: the check can fail.
    done, row = sanitizer("racecheck", "build/tests/steps/planted", 96, 96, "float", "--kernel",
                          "transpose_forgetBarrier")
    expect(done.returncode != 0 and "hazard" in done.stdout,
           "racecheck does not see a forgotten barrier: " + done.stdout[-500:])
    write(out / "sanitizer.csv", rows + [row])


def errata(out):
    """The faulty kernels on the GPU: what verification says, and what the fitting tool of compute-sanitizer does."""
    # On the matrices that show them on the simulator.
    shapes = {fault.kernel: fault.shape for fault in gallery()}
    # memcheck knows what was allocated, and the harness allocates all matrices and their guard bands at once: E7 and
    # E10 stay inside of that. Verification sees them.
    fitting = {"E2": "racecheck", "E3": "racecheck", "E6": "memcheck"}
    rows = []
    for k in kernels("faulty"):
        if k["on"] != "GPU":
            continue
        (id_,) = k["rows"]
        width, height = shapes[k["kernel"]]
        done = run(ROOT / k["program"], "--device", "cuda", "--kernel", k["kernel"], "--width", width, "--height",
                   height)
        row = {**machine(), "erratum": id_, "kernel": k["kernel"], "width": width, "height": height,
               "exit_status": done.returncode,
               "report": (done.stderr.strip().split("\n") or [""])[0], "tool": fitting.get(id_, ""), "tool_summary": ""}
        if id_ == "E19":
            expect(done.returncode == 2 and "the kernel asks for" in done.stderr,
                   f"{id_} was launched: {done.stdout} {done.stderr}")
        if id_ in ("E1", "E7", "E8", "E10", "E12", "E13", "E14", "E16", "E18"):
            expect(done.returncode == 1 and "wrong result" in done.stderr, f"{id_} passed: {done.stdout} {done.stderr}")
        if id_ in fitting:
            checked, about = sanitizer(fitting[id_], k["program"], width, height, "float", "--kernel", k["kernel"])
            row["tool_summary"] = about["summary"]
            expect(checked.returncode != 0 and not re.search(r"SUMMARY: 0 ", about["summary"]),
                   f"{fitting[id_]} does not see {id_}: {checked.stdout[-500:]}")
        rows.append(row)
    write(out / "errata.csv", rows)


def ncu(metrics, *command, options=(), timeout=550):
    """(Nsight Compute's rows, one for each launch and metric, numbers without separators; the command's run, with all
    that Nsight Compute said as `log`)"""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "ncu.csv"
        done = run("ncu", "--clock-control", "none", "--csv", "--print-units", "base", "--log-file", log, "--metrics",
                   ",".join(metrics), *options, *command, timeout=timeout)
        done.log = log.read_text() if log.exists() else ""
    rows = csv.DictReader(io.StringIO(done.log[done.log.find('"ID"'):]))
    return [{**row, "Metric Value": row["Metric Value"].replace(",", "")} for row in rows
            if row.get("Metric Name")], done


def counted(program, names, width, height, element, metrics):
    """What Nsight Compute counts for kernels of one program: {kernel: {our name of a metric: value}}, no kernel
    missing."""
    # Registered under another name than the function's.
    functions = {
        "transposeRow16": ("transposeRow", "Block Size", "(16, 16, 1)"),
        "transposeVectorized": ("transposeUnaligned", "Device", "0"),
        "transposeLoopingGrid16": ("transposeLoopingBlocks", "Grid Size", "(16, 16, 1)"),
        "transposeLoopingGrid64": ("transposeLoopingBlocks", "Grid Size", "(64, 64, 1)")}
    rows, done = ncu(metrics.values(), ROOT / program, "--device", "cuda", "--width", width, "--height", height,
                     "--type", element, "--once", "--kernel", ",".join(names),
                     options=["--kernel-name", "regex:^(?!fill_kernel|compare_kernel)"], timeout=300)
    values = {}
    for row in rows:
        name = re.match(r"(?:void )?(\w+)", row["Kernel Name"])[1]
        name = next((other for other, (function, column, value) in functions.items()
                     if name == function and row[column] == value), name)
        values.setdefault(name, {})[row["Metric Name"]] = row["Metric Value"]
    for name in names:
        expect(len(values.get(name, {})) == len(metrics), f"profile of {name}: {done.log[-500:]} {done.stderr[-300:]}")
    return {name: {ours: values.get(name, {}).get(theirs, "") for ours, theirs in metrics.items()} for name in names}


def profile(out):
    rows = []
    for ((width, height), element), program in itertools.product(PROFILED, STEPS):
        if element not in TYPES:
            continue
        names = [name for name in on_the_gpu(program, element).split(",") if name]
        for name, values in counted(program, names, width, height, element, MEASURED).items() if names else ():
            rows.append({**machine(), "kernel": name, "type": element, "width": width, "height": height, **values})
    write(out / "profile.csv", rows)


def compare_counts(path):
    """The simulator's counts of every launch in a profile."""
    programs = {k["kernel"]: k["program"] for k in kernels()}
    rows = list(csv.DictReader(path.open()))
    for program, element in sorted({(programs[row["kernel"]], row["type"]) for row in rows}):
        mine = [row for row in rows if (programs[row["kernel"]], row["type"]) == (program, element)]
        with tempfile.TemporaryDirectory() as folder:
            counts = pathlib.Path(folder) / "counts.csv"
            done = run(ROOT / program, "--device", "sim", "--machine", "h200", "--kernel",
                       ",".join(dict.fromkeys(row["kernel"] for row in mine)), "--type", element, "--size",
                       ",".join(dict.fromkeys(f"{row['width']}x{row['height']}" for row in mine)), "--csv", counts,
                       timeout=300)
            expect(done.returncode == 0, f"{program} on the simulator: {done.stderr}")
            counted_here = ({(row["kernel"], row["width"], row["height"]): row for row in csv.DictReader(counts.open())}
                            if counts.exists() else {})
        for row in mine:
            ours = counted_here.get((row["kernel"], row["width"], row["height"]), {})
            differ = [
                f"{name}: {ours.get(name)}, profiled {row[theirs]}" for name, theirs in COUNTERS.items()
                if ours.get(name) != row[theirs]]
            expect(not differ, f"{row['kernel']} {element} {row['width']} x {row['height']}: {'; '.join(differ)}")


def limits(out):
    """How busy the memory is, and the way between the two halves of the L2."""
    rows = []
    for program, name in (("step01", "copySharedMem"), ("step04", "transposeNoBankConflicts"),
                          ("step07", "transposeLongPieces")):
        for width, height, element in LIMITED:
            values = counted(program, [name], width, height, element, LIMITS)[name]
            rows.append({**machine(), "kernel": name, "type": element, "width": width, "height": height, **values})
    write(out / "limits.csv", rows)


def lab(out):
    """Points are the simulator's with a GPU, too; what it adds is a bandwidth, reported, and graded if that is asked
    for."""
    run("make", "lab-ready", timeout=300)
    rows = []
    for handout in sorted(ROOT.glob("step*/exercise*.cu")):
        number = int(re.search(r"exercise(\d\d)\.cu|step(\d\d)_\w+/exercise\.cu", str(handout)).expand(r"\1\2"))
        for what, file in (("handed out", handout), ("solved", ROOT / f"tests/lab/solutions/step{number:02}.cu")):
            done = run("make", "-s", f"lab{number:02}", f"FILE={file}", "CHECK=--json")
            verdict = json.loads(done.stdout)
            expect((done.returncode == 0) == (verdict["total"] == 100) == (what == "solved"),
                   f"exercise {number} {what}: {done.stdout} {done.stderr}")
            if "several GPUs" in verdict["bandwidth"]:
                continue
            percent = re.match(r"([\d.]+) % of cudaMemcpy's bandwidth", verdict["bandwidth"])
            # A hand-out may be wrong, and then has none.
            expect(percent or what != "solved" and "wrong result" in verdict["bandwidth"],
                   f"exercise {number} {what}: {verdict['bandwidth']}")
            rows.append({**machine(), "exercise": number, "submission": what, "points": verdict["total"],
                         "bandwidth_percent_of_memcpy": percent.group(1) if percent else ""})
    write(out / "lab.csv", rows)
    print("\n".join(f"exercise {r['exercise']} {r['submission']:10} {r['points']:3} points  "
                    f"{r['bandwidth_percent_of_memcpy']:>5} % of memcpy" for r in rows))
    for least, total in ((1, "110 / 110"), (1000, "100 / 110")):
        done = run("make", "-s", "lab04", f"FILE={ROOT / 'tests/lab/solutions/step04.cu'}",
                   f"CHECK=--graded-bandwidth {least}")
        expect(total in done.stdout and "on this GPU: " in done.stdout,
               f"bandwidth graded: {done.stdout} {done.stderr}")


def new(out):
    """What is new, by itself: the kernels that nobody profiled, and the programs of bench/."""
    CHOSEN[:] = sorted(UNMEASURED)
    every, STEPS[:] = list(STEPS), sorted({k["program"] for k in kernels("lesson", "variant") if k["kernel"] in CHOSEN}
                                          & set(STEPS))
    if STEPS:
        (out / "new").mkdir(exist_ok=True)
        for part in (verify, sanitize, profile):
            part(out / "new")
        compare_counts(out / "new/profile.csv")
        CHOSEN.append("copyRow")  # beside which the others stand, in all types
        bench(out / "new")
    CHOSEN.clear()
    STEPS[:] = every
    for program, name, *arguments in (("microbench", "micro", "--machine-file", out / "card.machine"),
                                      ("timing", "timing"), ("readonly", "readonly")):
        built = run("make", program, timeout=300)
        expect(built.returncode == 0, built.stderr)
        done = run(ROOT / program, *arguments, timeout=300)
        expect(done.returncode == 0, f"{program}: {done.stderr}")
        (out / f"{name}.csv").write_text(done.stdout)


def main():
    parts = {
        "verify": verify, "bench": bench, "tables": tables, "peers": peers, "sanitize": sanitize,
        "errata": errata, "profile": profile, "limits": limits, "lab": lab, "new": new}
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--steps", default=",".join(STEPS), help="only these programs, separated by commas: step07")
    parser.add_argument("--types", default=",".join(TYPES),
                        help="only these types of verify, bench, sanitize and profile")
    parser.add_argument("parts", nargs="*", metavar="|".join(parts), help="what to run; default: all")
    options = parser.parse_args()
    STEPS[:], TYPES[:] = options.steps.split(","), options.types.split(",")
    for part in options.parts:
        if part not in parts:
            parser.error(f"{part}: expected one of {', '.join(parts)}")
    options.out.mkdir(parents=True, exist_ok=True)

    start = time.monotonic()
    built = run("make", "-j8", "all", "build/tests/steps/planted", timeout=600)
    if built.returncode:
        sys.exit(built.stdout[-3000:] + built.stderr[-3000:])
    print(f"built in {time.monotonic() - start:.0f} s on {machine()}", flush=True)
    print(run(ROOT / "step04", "--device", "cuda").stdout, flush=True)
    for name in options.parts or parts:
        start = time.monotonic()
        parts[name](options.out)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
